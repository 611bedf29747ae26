import { flushCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import pino from 'pino'
import { agentFiles } from '../adapters/agents/agent-files.ts'
import { daemonConfig } from '../adapters/config/load-config.ts'
import { findProject, musterPaths } from '../adapters/config/muster-paths.ts'
import { crewFiles } from '../adapters/crews/crew-files.ts'
import { leaveGroup } from '../adapters/system/control-groups.ts'
import { removeOrphanedTemporary } from '../adapters/system/temporary-files.ts'
import { AppError, errorCodes } from '../contract/errors.ts'
import { printableJson } from '../contract/terminal-controls.ts'
import { createRedactor } from '../core/redaction/redactor.ts'
import { startDaemon } from './daemon.ts'
import { agentHomes, shippedFolder } from './home.ts'
import { redactorOptions } from './redaction.ts'

/** The daemon as a process: one per state folder, ended by a signal or over HTTP. */
async function main(): Promise<void> {
  // Started from within a session, it is not that session's: neither it nor what it starts ends with it.
  await leaveGroup()
  const place = { env: process.env, home: homedir() }
  const paths = musterPaths(place)
  const settings = await daemonConfig(place, new AbortController().signal)
  const { loaded } = settings
  const redactor = createRedactor(redactorOptions(loaded.config.redaction, process.env))
  const log = pino(
    { base: null },
    { write: (line) => process.stderr.write(printableJson(redactor.text(line).text)) },
  )
  const onBug = (error: unknown, where: string): void => log.error({ err: error, where }, 'bug')
  for (const warning of loaded.warnings) log.warn(warning)

  const stopping = Promise.withResolvers<string>()
  const project = await findProject(process.cwd(), place.home)
  const daemon = await startDaemon({
    home: paths.stateDir,
    usualHome: musterPaths({ env: {}, home: place.home }).stateDir,
    settings,
    userHome: place.home,
    env: process.env,
    agents: agentFiles(agentHomes(paths)),
    crews: crewFiles({ shippedDir: shippedFolder('crews'), userDir: paths.userCrewsDir }),
    projectRoot: project.root,
    onBug,
    onDamage: (what) => log.warn(`the journal is damaged: ${what}; see: sm doctor`),
    onShutdown: () => stopping.resolve('asked over HTTP'),
  })
  keepHeapSmall()
  void removeOrphanedTemporary().catch((error: unknown) => onBug(error, 'temporary files'))
  log.info({ url: daemon.url, home: paths.stateDir, pid: process.pid }, 'ready')
  let isAsked = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      // A person who asks twice, by whichever signal, wants it now; the journal needs no goodbye.
      if (isAsked) process.exit(errorCodes.failed.exit)
      isAsked = true
      stopping.resolve(signal)
    })
  process.on('SIGHUP', () => {})
  process.on('unhandledRejection', (error) => onBug(error, 'unhandled rejection'))
  process.on('uncaughtException', (error) => {
    onBug(error, 'uncaught exception')
    process.exit(errorCodes.internal.exit)
  })
  log.info({ reason: await stopping.promise }, 'stopping')
  await daemon.close()
  log.info('stopped')
}

/**
 * Little is held and much passes through: by itself V8 would let the heap grow to several times what is held before it
 * cleans up, and keep what it took to optimize the longest functions of libraries. Code that was compiled under other
 * flags is not taken from the cache, so what has been loaded is kept before they change.
 */
function keepHeapSmall(): void {
  flushCompileCache()
  setFlagsFromString('--heap-growing-percent=20')
  setFlagsFromString('--max-optimized-bytecode-size=16384')
}

try {
  await main()
} catch (error) {
  const refusal = error instanceof AppError ? error : undefined
  const msg = refusal?.message ?? String((error as Error).stack)
  const line = JSON.stringify({ level: 60, code: refusal?.code ?? 'internal', msg })
  process.stderr.write(`${printableJson(line)}\n`)
  process.exit(errorCodes[refusal?.code ?? 'internal'].exit)
}
