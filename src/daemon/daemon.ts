import { gitWorkspace } from '../adapters/git/workspace.ts'
import { projectFiles } from '../adapters/project/project-files.ts'
import { systemClock } from '../adapters/system/clock.ts'
import { cursorFiles } from '../adapters/system/durable-files.ts'
import { systemProcesses } from '../adapters/system/processes.ts'
import { definitionHandlers, knownClis, loadCrews } from '../api/definitions.ts'
import { frameContext } from '../api/frame-context.ts'
import { runtimeHandlers } from '../api/runtime-handlers.ts'
import { sessionHandlers } from '../api/session-handlers.ts'
import { builtInSession } from '../api/session-kinds/built-in-session.ts'
import { observedSession, recordedSession } from '../api/session-kinds/outside-session.ts'
import type { SessionKinds } from '../api/session-kinds/session-kind.ts'
import { terminalSession } from '../api/session-kinds/terminal-session.ts'
import { workflowSession } from '../api/session-kinds/workflow-session.ts'
import { systemHandlers } from '../api/system-handlers.ts'
import { trustHandlers } from '../api/trust-handlers.ts'
import { sees, topOf } from '../api/who-may.ts'
import { workerChoices } from '../api/worker-choices.ts'
import { workflowHandlers } from '../api/workflow-handlers.ts'
import { findNamed } from '../contract/find-named.ts'
import type { Health } from '../contract/health.ts'
import { socketPath } from '../contract/home.ts'
import type { Api } from '../contract/routes.ts'
import { version, wireVersions } from '../contract/version.ts'
import { type ReactorReport, ReactorRun } from '../engine/react.ts'
import type { PollFault } from '../engine/sessions/polling.ts'
import { type HttpApp, type HttpDeps, httpApp } from '../http/app.ts'
import { type Listening, listen } from '../http/listen.ts'
import { loadPage } from '../http/page.ts'
import { answererCheck } from './answerer-check.ts'
import { type Base, type DaemonOptions, type Feature, openBase } from './base.ts'
import { cliFacts } from './cli-facts.ts'
import { builtInAgents } from './features/built-in-agents.ts'
import { housekeeping } from './features/housekeeping.ts'
import { terminalSessions } from './features/terminal-sessions.ts'
import { workflowsFeature } from './features/workflows.ts'
import { keepPort, lastPort, shippedFolder } from './home.ts'
import { observe } from './self-report.ts'
import { checkSessions } from './session-checks.ts'

export type Daemon = { readonly url: string; close(): Promise<void> }

const closeGraceMs = 2000

/** Starts every feature on the journal, and the server before them; stops them in the opposite order. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  // Whatever fails on the way, what was already started is stopped again; so is everything at the end.
  await using parts = new AsyncDisposableStack()
  let listening: Listening | undefined
  const base = await openBase(options, { parts, url: () => listening?.url ?? '' })
  const { health, report } = selfReport(base, parts, {
    reactors: () => reactors.reports(),
    clients: () => app.streams.count,
    faults: () => pollFaults(),
  })
  const { features, directory, pollFaults } = openFeatures(base, { health, report })
  const app = openHttp(base, {
    api: joinRoutes(features),
    sees: (principal, id) => sees(directory, principal, id),
    topOf: (id) => topOf(directory, id),
    port: () => listening?.port ?? 0,
  })
  base.authority.onRevoked((sessionId) => app.streams.endOf(sessionId))
  const reactors = await startReactors(base, features)
  parts.defer(() => reactors.stop())
  const all: readonly Feature[] = features
  for (const feature of all)
    if (feature.prepare) {
      parts.defer(() => feature.stop?.())
      await feature.prepare()
    }
  const server = await listenOnKeptPort(app, base)
  listening = server
  parts.defer(() => server.close(closeGraceMs))
  await keepPort(base.files.port, server.port)
  for (const feature of all) {
    // Its end is promised before its start, so that half a start is undone too.
    if (!feature.prepare) parts.defer(() => feature.stop?.())
    await feature.start?.()
  }
  const running = parts.move()
  return { url: server.url, close: () => running.disposeAsync() }
}

/** The parts of the product. A new one is a folder and a line here. */
function openFeatures(base: Base, { health, report }: SelfReports) {
  const { options, engine, journal, index, clock, config, authority } = base
  const { agents: definitions, crews, settings, projectRoot } = options
  const { loaded } = settings
  const agentProject = base.project(projectRoot)
  const sessions = terminalSessions(base)
  const { host, directory, observer, terminals } = sessions
  const agents = builtInAgents(base)
  const { runtime, models } = agents
  const flows = workflowsFeature(base, { sessions, runtime })
  const { workflows, branches, scripts, collaborations } = flows
  const projects = projectFiles(shippedFolder('workflows'))
  const builtIn = { engine, directory, runtime, clock }
  const kinds: SessionKinds = {
    managed: terminalSession(terminals),
    runtime: builtInSession(builtIn),
    workflow: workflowSession({ ...builtIn, workflows }),
    observed: observedSession(terminals),
    imported: recordedSession(terminals),
  }
  const shared = { engine, directory, clock, kinds, projects, prices: base.prices }
  const system = {
    engine,
    journal,
    blobs: journal.blobs,
    index,
    directory,
    kinds,
    host,
    runtime,
    workflows,
    loaded,
    health,
    report,
    onShutdown: options.onShutdown,
    loginLink: () => `${base.url()}/login?code=${authority.loginCode()}`,
  }
  const crewsOf = (root: string, signal: AbortSignal) =>
    loadCrews({ crews, agents: definitions, clis: config.clis }, base.project(root), signal)
  const clis = () => knownClis(config.clis)
  const choose = workerChoices({
    config: config.models,
    models,
    clis: (signal) => cliFacts({ clis: terminals.looking.clis, config, env: base.env }, signal),
  })
  const modelOf = async (root: string, agent: string, signal: AbortSignal) =>
    findNamed((await definitions.load(base.project(root), signal)).agents, agent).found?.model
  const features = [
    agents,
    sessions,
    flows,
    housekeeping(base),
    { routes: systemHandlers(system) },
    { routes: trustHandlers({ engine, trusted: base.trusted }) },
    {
      routes: definitionHandlers({
        agents: definitions,
        crews,
        agentProject,
        loaded,
        models,
        choose,
        modelOf,
        projects,
      }),
    },
    {
      routes: sessionHandlers({
        ...shared,
        host,
        observer,
        workspace: gitWorkspace,
        ids: base.ids,
        onBug: base.onBug,
        home: base.files.home,
        processes: systemProcesses(clock),
        sessionChecks: async (signal) => [
          ...(await checkSessions(host, signal)),
          await answererCheck(choose, signal),
        ],
      }),
    },
    { routes: runtimeHandlers({ ...shared, runtime, usualMode: () => config.runtime.mode }) },
    {
      routes: workflowHandlers({
        ...shared,
        workflows,
        branches,
        scripts,
        files: collaborations,
        crewsOf,
        choose,
        modelOf,
        trustIn: (root) => base.project(root).trusts,
        clis,
      }),
    },
  ] as const
  return { features, directory, pollFaults: () => host.current()?.faults() ?? [] }
}

type Features = ReturnType<typeof openFeatures>['features']
type AllOf<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never
type Routes = AllOf<Extract<Features[number], { routes: unknown }>['routes']>

/** What all features answer together; a route that nobody answers does not compile. */
const joinRoutes = (features: Features): Api =>
  Object.assign({}, ...features.map((feature: Feature) => feature.routes)) as Routes

/** Follows the journal with every reactor; `stop` waits until each has saved its cursor. */
async function startReactors(
  { journal, files, clock, onBug, onParked }: Base,
  features: readonly Feature[],
): Promise<{ reports(): ReactorReport[]; stop(): Promise<void> }> {
  const cursors = await cursorFiles(files.cursors)
  const stopping = new AbortController()
  const reactors = features.flatMap((feature) => feature.reactors ?? [])
  const runs = reactors.map(
    (reactor) =>
      new ReactorRun(reactor, {
        journal,
        cursors,
        clock,
        onStuck: (error) => onBug(error, `reactor ${reactor.name}`),
        onParked: (parked) => onParked(reactor.name, parked),
      }),
  )
  const ended = runs.map((run) =>
    run.run(stopping.signal).catch((error: unknown) => onBug(error, `reactor ${run.report().name}`)),
  )
  return {
    reports: () => runs.map((run) => run.report()),
    async stop() {
      stopping.abort()
      await Promise.all(ended)
    },
  }
}

type SelfReports = Pick<Parameters<typeof systemHandlers>[0], 'health' | 'report'>

type Watched = {
  readonly reactors: () => ReactorReport[]
  readonly clients: () => number
  readonly faults: () => readonly PollFault[]
}

function selfReport(
  { options, journal, engine, thread, index, clock, url }: Base,
  parts: AsyncDisposableStack,
  { reactors, clients, faults }: Watched,
): SelfReports {
  const startedAtMs = clock.now()
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
    ...damageOf(journal),
  })
  const observed = observe({
    health,
    startedAtMs,
    now: () => clock.now(),
    journal,
    engine,
    followers: () => [...thread.reports(), ...reactors()],
    pollFaults: faults,
    queues: () => ({ journal: journal.stats().pending, queries: index.waiting }),
    sseClients: clients,
    home: options.home,
  })
  parts.defer(() => observed.stop())
  return { health, report: () => observed.report() }
}

/** As much as a person reads of it. */
const mostTold = 5

function damageOf(journal: Base['journal']): Pick<Health, 'damage'> {
  const damage = journal.findings().map(({ file, reason }) => `${file} ${reason}`)
  const more = damage.length - mostTold
  if (damage.length === 0) return {}
  return { damage: more > 0 ? [...damage.slice(0, mostTold), `and ${more} more`] : damage }
}

function openHttp(
  { config, journal, live, engine, index, clock, authority, onBug }: Base,
  { api, sees, topOf, port }: Pick<HttpDeps, 'api' | 'sees' | 'topOf'> & { port: () => number },
) {
  const { sse, max_body_bytes: maxBodyBytes } = config.http
  return httpApp({
    api,
    journal,
    live,
    contextOf: frameContext(engine, index),
    sees,
    topOf,
    clock,
    limits: { heartbeatMs: sse.heartbeat_ms, stallMs: sse.stall_ms, maxClients: sse.max_clients },
    address: { port },
    authenticate: (token) => authority.authenticate(token),
    redeem: (code) => authority.redeem(code),
    page: loadPage(),
    maxBodyBytes,
    onBug,
  })
}

/** The port is kept from run to run; when somebody else has it by now, another is taken rather than none. */
function listenOnKeptPort(app: HttpApp, { config, options, files, onBug }: Base): Promise<Listening> {
  const socket = socketPath(options.home)
  const { host, port } = config.http
  return listen(app, {
    host,
    ...(port === undefined ? { port: lastPort(files.port), mayMove: true } : { port }),
    ...(socket && { socketPath: socket }),
    clock: systemClock,
    onBug,
  })
}
