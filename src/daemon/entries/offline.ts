import { loadConfig } from '../../adapters/config/load-config.ts'
import { musterPaths } from '../../adapters/config/muster-paths.ts'
import type { Config } from '../../contract/config.ts'
import type { OpenOffline, RedactionReport } from '../../contract/offline.ts'
import { positionAt } from '../../contract/yaml-position.ts'
import { createRedactor } from '../../core/redaction/redactor.ts'
import { homeFiles } from '../home.ts'
import { agentsLoad, agentsNew, crewsLoad, trustOf } from '../offline/definitions.ts'
import { doctorChecks } from '../offline/doctor.ts'
import { journalExport, journalSetAside, journalStats, journalVerify } from '../offline/journal.ts'
import { logMigrate, logRead, logRepair, logValidate } from '../offline/session-files.ts'
import { redactorOptions } from '../redaction.ts'

/** What `sm` can do when no daemon runs; each part reads; what writes is asked for by name. */
export const openOffline: OpenOffline = (place) => {
  const paths = musterPaths(place)
  const files = homeFiles(paths.stateDir)
  const { journal } = files
  const config = async (signal: AbortSignal) =>
    loadConfig({ ...place, projectTrust: await trustOf(place) }, signal)
  return {
    journalVerify: (onProgress, signal) => journalVerify(files, onProgress, signal),
    journalSetAside: () => journalSetAside(files),
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
    async doctor(signal) {
      // What speaks with models is loaded by nobody else here.
      const { offlineChoices } = await import('../offline/choices.ts')
      await using choices = offlineChoices((await config(signal)).config, place.env)
      return doctorChecks({ home: paths.stateDir, choose: choices.choose }, signal)
    },
  }
}

/** What redaction would take out of a text, and where; the text goes nowhere. */
function redactTest(
  text: string,
  config: Config['redaction'],
  env: Readonly<Record<string, string | undefined>>,
): RedactionReport {
  const redactor = createRedactor(redactorOptions(config, env))
  const findings = redactor.find(text).map((span) => ({ rule: span.class, ...positionAt(text, span.start) }))
  return { redacted: redactor.text(text).text, findings }
}
