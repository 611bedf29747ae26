import { loadConfig } from '../../adapters/config/load-config.ts'
import { musterPaths } from '../../adapters/config/muster-paths.ts'
import { setAsideDamage } from '../../adapters/jsonl/set-aside.ts'
import type { OpenOffline } from '../../contract/offline.ts'
import { homeFiles } from '../home.ts'
import { agentsLoad, agentsNew } from '../offline/agents.ts'
import { crewsLoad } from '../offline/crews.ts'
import { doctorChecks } from '../offline/doctor.ts'
import { journalExport, journalStats, journalVerify } from '../offline/journal.ts'
import { logMigrate, logRead, logRepair, logValidate } from '../offline/log.ts'
import { redactTest } from '../offline/redact.ts'

/** What `sm` can do when no daemon runs; each part reads; what writes is asked for by name. */
export const openOffline: OpenOffline = (place) => {
  const paths = musterPaths(place)
  const { journal } = homeFiles(paths.stateDir)
  const config = (signal: AbortSignal) => loadConfig({ ...place, projectTrust: false }, signal)
  return {
    journalVerify: (onProgress, signal) => journalVerify(journal, onProgress, signal),
    journalSetAside: () => setAsideDamage(journal),
    journalExport: (filter, signal) => journalExport(journal, filter, signal),
    journalStats: () => journalStats(journal),
    logRead,
    logValidate,
    logMigrate,
    logRepair,
    redactTest: async (text, signal) => redactTest(text, (await config(signal)).config.redaction, place.env),
    configShow: config,
    agentsLoad: (signal) => agentsLoad(place, signal),
    agentsNew: (request, signal) => agentsNew(request, place, signal),
    crewsLoad: (signal) => crewsLoad(place, signal),
    doctor: (signal) => doctorChecks(paths.stateDir, signal),
  }
}
