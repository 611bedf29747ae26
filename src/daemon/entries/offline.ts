import { fileURLToPath } from 'node:url'
import { agentFiles } from '../../adapters/agents/agent-files.ts'
import { findProject } from '../../adapters/config/find-project.ts'
import { loadConfig } from '../../adapters/config/load-config.ts'
import { musterPaths } from '../../adapters/config/muster-paths.ts'
import { setAsideDamage } from '../../adapters/jsonl/set-aside.ts'
import type { OpenOffline } from '../../contract/offline.ts'
import { checkAgents } from '../../core/agent-definitions/check-agents.ts'
import { homeFiles } from '../home.ts'
import { doctorChecks } from '../offline/doctor.ts'
import { journalExport, journalStats, journalVerify } from '../offline/journal.ts'
import { logMigrate, logRepair, logValidate } from '../offline/log.ts'
import { redactTest } from '../offline/redact.ts'
import { packageRoot } from '../package-root.ts'

/** What `sm` can do when no daemon runs; each part reads and none writes, but for the cure that is asked for by name. */
export const openOffline: OpenOffline = (place) => {
  const paths = musterPaths(place)
  const { journal } = homeFiles(paths.stateDir)
  const config = (signal: AbortSignal) => loadConfig({ ...place, projectTrust: false }, signal)
  return {
    journalVerify: (onProgress, signal) => journalVerify(journal, onProgress, signal),
    journalSetAside: () => setAsideDamage(journal),
    journalExport: (filter, signal) => journalExport(journal, filter, signal),
    journalStats: () => journalStats(journal),
    logValidate,
    logMigrate,
    logRepair,
    redactTest: async (text, signal) => redactTest(text, (await config(signal)).config.redaction, place.env),
    configShow: config,
    agentsLoad: async (signal) => {
      const { root } = await findProject(place.cwd, place.home)
      const shippedDir = fileURLToPath(new URL('agents', packageRoot()))
      const loaded = await agentFiles({ shippedDir, userDir: paths.userAgentsDir }).load(
        { root, trusted: false },
        signal,
      )
      return { ...loaded, problems: checkAgents(loaded) }
    },
    doctor: (signal) => doctorChecks(paths.stateDir, signal),
  }
}
