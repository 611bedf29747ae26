import { resolve } from 'node:path'
import { Journal } from '../adapters/jsonl/journal.ts'
import type { Cut } from '../adapters/jsonl/recover.ts'
import { openModels } from '../adapters/models/open-models.ts'
import { systemClock } from '../adapters/system/clock.ts'
import { systemIds } from '../adapters/system/ids.ts'
import { systemLineFiles } from '../adapters/system/line-files.ts'
import { systemProcesses } from '../adapters/system/processes.ts'
import { sessionFolders } from '../adapters/system/session-folders.ts'
import { openVault } from '../adapters/vault/file-vault.ts'
import { webhook } from '../adapters/webhook/webhook.ts'
import type { Config, LoadedConfig } from '../contract/config.ts'
import type { Draft } from '../contract/event.ts'
import type { Health } from '../contract/health.ts'
import { socketPath } from '../contract/home.ts'
import { fleet } from '../contract/ids.ts'
import { version } from '../contract/version.ts'
import { wireVersions } from '../contract/wire.ts'
import { Engine } from '../engine/engine.ts'
import { Observer } from '../engine/observe/observer.ts'
import type { Parked } from '../engine/react.ts'
import { abandonChildren } from '../engine/reactors/abandon-children.ts'
import { notifyWebhook } from '../engine/reactors/notify-webhook.ts'
import { releaseVault } from '../engine/reactors/release-vault.ts'
import { tellParent } from '../engine/reactors/tell-parent.ts'
import { tidySession } from '../engine/reactors/tidy-session.ts'
import { watchBudget } from '../engine/reactors/watch-budget.ts'
import { type HttpApp, httpApp } from '../http/app.ts'
import { type Listening, listen } from '../http/listen.ts'
import { liveHub } from '../http/live.ts'
import { loadPage } from '../http/page.ts'
import type { AgentDefinitions, AgentProject } from '../ports/agent-definitions.ts'
import type { CrewDefinitions } from '../ports/crew-definitions.ts'
import { daemonApi } from './api.ts'
import { openAuthority } from './authority.ts'
import { noteParked, redactionBook } from './bookkeeping.ts'
import { keepPort, lastPort } from './chosen-port.ts'
import { endedSession } from './ended-session.ts'
import { givenEnvironment } from './given-environment.ts'
import { homeFiles } from './home.ts'
import { IndexClient } from './index-client.ts'
import { IndexThread } from './index-thread.ts'
import { openBudgets } from './open-budgets.ts'
import { startReactors } from './reactors.ts'
import { daemonRedaction, redactorOptions } from './redaction.ts'
import { frameContext } from './runtime/frame-context.ts'
import { openRuntime } from './runtime/open-runtime.ts'
import { observe } from './self-report.ts'
import { sessionEventsOf } from './session-events-of.ts'
import { agentCliAdapters } from './sessions/agent-cli-adapters.ts'
import { Directory } from './sessions/directory.ts'
import { openParts } from './sessions/open-sessions.ts'
import { sessionHost } from './sessions/session-host.ts'
import { usableHome } from './usable-home.ts'
import { openCollaborationFiles } from './workflows/open-collaboration-files.ts'
import { openWorkflows } from './workflows/open-workflows.ts'

export type DaemonOptions = {
  readonly home: string
  /** The state folder of a machine on which nobody chose another. */
  readonly usualHome: string
  readonly loaded: LoadedConfig
  readonly env: Readonly<Record<string, string | undefined>>
  readonly agents: AgentDefinitions
  readonly crews: CrewDefinitions
  readonly agentProject: AgentProject | undefined
  readonly onBug: (error: unknown, where: string) => void
  /** Asked for over HTTP; the process decides how to end. */
  readonly onShutdown: () => void
}

export type Daemon = { readonly url: string; close(): Promise<void> }

const closeGraceMs = 2000
const sweepMs = 60 * 60 * 1000
const bookMs = 60 * 1000
const dayMs = 24 * 60 * 60 * 1000

/** Builds every part, passes it to those that need it, and stops them in the opposite order. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  // Whatever fails on the way, what was already started is stopped again; so is everything at the end.
  await using parts = new AsyncDisposableStack()
  const { config } = options.loaded
  const startedAtMs = systemClock.now()
  const files = homeFiles(await usableHome(options.home))
  const journal = await Journal.open(journalOptions(files.journal, config.journal))
  parts.defer(() => journal.close())
  const onParked = (follower: string, parked: Parked): void => {
    noteParked({ engine, journal }, follower, parked).catch((error: unknown) =>
      options.onBug(error, follower),
    )
  }
  const thread = new IndexThread(files, {
    bug: (error) => options.onBug(error, 'index thread'),
    parked: onParked,
    rebuilt: () => {
      index.reopen().catch((error: unknown) => options.onBug(error, 'index questions'))
    },
  })
  const index = new IndexClient({ index: files.index, search: files.search })
  const redaction = daemonRedaction(redactorOptions(config.redaction, options.env))
  parts.defer(() => index.close())
  parts.defer(() => redaction.close())
  const engine: Engine = new Engine({
    journal,
    blobs: journal.blobs,
    clock: systemClock,
    ids: systemIds(systemClock),
    redact: redaction.redact,
    endedSession: (id) => endedSession(id, { journal, thread, index }),
  })
  const cut = await journal.load(engine.replay)
  parts.defer(async () => {
    if (journal.health() !== 'poisoned') await journal.snapshot(engine.snapshot())
  })
  parts.defer(() => thread.stop())
  const authority = await openAuthority(files, systemClock)
  const vault = await openVault(files.vault, files.vaultKey)
  parts.defer(() => vault.close())
  const loadAgents = async (signal: AbortSignal) =>
    (await options.agents.load(options.agentProject, signal)).agents
  const env = givenEnvironment(options.env)
  const models = openModels({ config: config.models, env, clock: systemClock })
  parts.defer(() => models.close())
  const host = sessionHost(() =>
    openParts({
      files,
      usualHome: options.usualHome,
      engine,
      vault,
      authority,
      config: () => config,
      env,
      agents: loadAgents,
      url,
      archiveFolder: () => resolve(files.home, config.child_agents.cleanup.archive_path),
      redactLine: (line) => redaction.redactor.text(line).text,
      onBug: options.onBug,
    }),
  )
  const looking = { clis: agentCliAdapters(options.env), files: systemLineFiles, env }
  const observer = new Observer({
    ...looking,
    engine,
    clock: systemClock,
    ids: systemIds(systemClock),
    processes: systemProcesses(systemClock),
    config: () => config,
    onBug: options.onBug,
  })
  const directory = new Directory({
    engine,
    journal,
    index,
    thread,
    sessions: () => host.current(),
    observer,
    clock: systemClock,
  })

  const budgets = openBudgets({ engine, journal, thread, index })
  const live = liveHub()
  const runtime = openRuntime({
    engine,
    vault,
    budgets,
    journal,
    index,
    thread,
    config: () => config,
    agents: options.agents,
    models,
    redactor: redaction.redactor,
    env: options.env,
    hidden: [files.home],
    live,
    onBug: options.onBug,
  })

  const caughtUp = () => directory.caughtUp()
  const { workflows, waits, branches, scripts } = openWorkflows({
    engine,
    vault,
    limits: () => config.limits,
    budgets,
    blobs: journal.blobs,
    index,
    caughtUp,
    events: sessionEventsOf({ journal, index, thread }),
    sessions: async () => (await host.open()).sessions,
    own: runtime.works,
    worktrees: `${files.home}/worktrees`,
    env: options.env,
    onBug: options.onBug,
  })
  const { collaborations: folder } = files
  const collaborations = openCollaborationFiles({ ...options, engine, journal, index, caughtUp, folder })

  let listening: Listening | undefined
  const url = () => listening?.url ?? ''
  const health = (): Health => ({
    name: 'muster',
    version,
    wire: { ...wireVersions },
    pid: process.pid,
    startedAt: new Date(startedAtMs).toISOString(),
    home: options.home,
    url: url(),
    seq: journal.watermark(),
    journal: journal.health(),
  })
  const selfReport = observe({
    health,
    startedAtMs,
    now: () => systemClock.now(),
    journal,
    engine,
    followers: () => [...thread.reports(), ...reactors.reports()],
    pollFaults: () => host.current()?.faults() ?? [],
    queues: () => ({ journal: journal.stats().pending, queries: index.waiting }),
    sseClients: () => app.streams.count,
    home: options.home,
  })
  parts.defer(() => selfReport.stop())
  const report = () => selfReport.report()
  const { sse } = config.http
  const app: HttpApp = httpApp({
    api: daemonApi({
      ...options,
      engine,
      journal,
      index,
      thread,
      authority,
      health,
      report,
      url,
      clock: systemClock,
      host,
      directory,
      processes: systemProcesses(systemClock),
      home: files.home,
      observer,
      looking,
      models,
      runtime,
      workflows,
      branches,
      scripts,
      collaborations,
    }),
    journal,
    live,
    contextOf: frameContext(engine, index),
    clock: systemClock,
    limits: { heartbeatMs: sse.heartbeat_ms, stallMs: sse.stall_ms, maxClients: sse.max_clients },
    address: { port: () => listening?.port ?? 0 },
    authenticate: (token) => authority.authenticate(token),
    redeem: (code) => authority.redeem(code),
    page: loadPage(),
    maxBodyBytes: config.http.max_body_bytes,
    onBug: options.onBug,
  })

  const told = tellParent({
    engine,
    vault,
    ids: systemIds(systemClock),
    config: () => config,
    onQueued: (id) => host.current()?.get(id)?.delivery.poke(),
  })
  const tidy = tidySession(async (id, signal) => host.current()?.tidy(id, signal))
  const { webhook: hook } = config.child_agents.notifications
  const outside = notifyWebhook({
    engine,
    clock: systemClock,
    config: () => config,
    notifier:
      hook.url === undefined
        ? undefined
        : webhook({
            url: hook.url,
            secretEnv: hook.secret_env,
            timeoutMs: hook.timeout * 1000,
            env: options.env,
          }),
  })
  const orphans = abandonChildren(async () => host.current()?.abandonOrphans())
  const reactors = await startReactors(
    [
      releaseVault(vault),
      told,
      tidy,
      watchBudget(budgets),
      orphans,
      outside,
      waits.reactor,
      collaborations.reactor,
    ],
    {
      journal,
      cursorDir: files.cursors,
      onBug: options.onBug,
      onParked,
    },
  )
  parts.defer(() => collaborations.stop())
  parts.defer(() => reactors.stop())
  thread.start(journal.watermark())
  journal.onDurable((watermark) => thread.advance(watermark))
  journal.onRotate(() => {
    journal.snapshot(engine.snapshot()).catch((error: unknown) => options.onBug(error, 'snapshot'))
  })
  if (cut) await engine.record([recovered(cut, journal.watermark())])
  // Before anybody can say anything: what is begun from now on was not left by another daemon.
  parts.defer(() => runtime.stop())
  await runtime.start()
  const server = await listenOnKeptPort(app, {
    config,
    home: options.home,
    port: files.port,
    onBug: options.onBug,
  })
  listening = server
  parts.defer(() => server.close(closeGraceMs))
  await keepPort(files.port, server.port)
  parts.defer(() => host.close())
  // A folder that is still there belongs to a session that runs, or whose end was cut off.
  const folders = await sessionFolders(files.sessions).list()
  const hasOpen = [...engine.sessions()].some(({ managed }) => managed?.origin === 'managed')
  if (hasOpen || folders.length > 0)
    await host.open().catch((error: unknown) => options.onBug(error, 'taking up sessions'))
  // After the sessions that its agents may be.
  parts.defer(() => workflows.stop())
  await workflows.start()
  await collaborations.start()
  observer.start()
  parts.defer(() => observer.stop())
  const sweep = setInterval(() => {
    const before = systemClock.now() - config.vault.keep_days * dayMs
    vault.sweep(before).catch((error: unknown) => options.onBug(error, 'vault sweep'))
  }, sweepMs).unref()
  parts.defer(() => clearInterval(sweep))
  const writeRedactions = redactionBook(engine)
  const book = setInterval(() => {
    writeRedactions().catch((error: unknown) => options.onBug(error, 'redaction counters'))
  }, bookMs).unref()
  parts.defer(async () => {
    clearInterval(book)
    if (journal.health() === 'ok') await writeRedactions()
  })
  const running = parts.move()
  return { url: server.url, close: () => running.disposeAsync() }
}

const journalOptions = (dir: string, config: Config['journal']) => ({
  dir,
  clock: systemClock,
  fsync: config.fsync,
  groupMs: config.group_commit_ms,
  groupEvents: config.group_commit_events,
  segmentBytes: config.segment_bytes,
  reserveBytes: config.reserve_bytes,
})

const recovered = (cut: Cut, lastSeq: number): Draft => ({
  ...fleet,
  actor: 'daemon',
  type: 'journal.recovered',
  payload: { segment: cut.segment, cutBytes: cut.bytes, keptAs: cut.keptAs, lastSeq, reason: cut.reason },
})

/** The port is kept from run to run; when somebody else has it by now, another is taken rather than none. */
function listenOnKeptPort(
  app: HttpApp,
  {
    config,
    home,
    port,
    onBug,
  }: { config: Config; home: string; port: string; onBug: DaemonOptions['onBug'] },
): Promise<Listening> {
  const socket = socketPath(home)
  const { host, port: chosen } = config.http
  return listen(app, {
    host,
    ...(chosen === undefined ? { port: lastPort(port), mayMove: true } : { port: chosen }),
    ...(socket && { socketPath: socket }),
    clock: systemClock,
    onBug,
  })
}
