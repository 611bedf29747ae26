import { AppError } from '../contract/errors.ts'
import type { Check } from '../contract/health.ts'
import { type SessionId, shortId } from '../contract/ids.ts'
import type { SessionRow } from '../contract/index-rows.ts'
import type { Principal } from '../contract/principal.ts'
import type { Api } from '../contract/routes.ts'
import type { sessionRoutes } from '../contract/session-routes.ts'
import type { SessionView } from '../contract/session-views.ts'
import { refuseUncountedMoney } from '../core/ledger/budget.ts'
import type { PriceBook } from '../core/ledger/price-book.ts'
import { metricsOf } from '../core/session/progress-view.ts'
import { hasEnded } from '../core/session/state.ts'
import type { Engine } from '../engine/engine.ts'
import type { Observer } from '../engine/observer.ts'
import type { Live, Sessions } from '../engine/sessions/sessions.ts'
import type { Clock, Ids } from '../ports/clock.ts'
import type { Processes } from '../ports/processes.ts'
import type { Workspace } from '../ports/workspace.ts'
import { agentsBelow, agentsIn, viewOfAgent } from './agents.ts'
import { decideApproval } from './decide-approval.ts'
import type { Directory, Node } from './directory.ts'
import { unsavedOf, unsavedOfAgent } from './kill-sessions.ts'
import { addCheckpoint, diffCheckpoints } from './milestones.ts'
import { processesOf } from './processes-of.ts'
import { type Reached, reach, reaching } from './reaching.ts'
import { fleetEventsOf, sessionEventsOf } from './session-events.ts'
import type { SessionHost } from './session-host.ts'
import { kindOf, type SessionKinds } from './session-kinds/session-kind.ts'
import { answeredView, approvalView, namedView, summaryOf } from './session-views.ts'
import { outputOfAgent, recordedTranscript } from './transcripts.ts'
import { askerOf, mayAct, refuseOnDuty, seenBy, sees, sightOf, within } from './who-may.ts'

export type SessionHandlerDeps = {
  readonly prices: Pick<PriceBook, 'knows'>
  readonly directory: Directory
  readonly engine: Engine
  readonly clock: Clock
  readonly host: SessionHost
  readonly kinds: SessionKinds
  readonly workspace: Workspace
  readonly ids: Ids
  readonly onBug: (error: unknown, where: string) => void
  readonly processes: Processes
  /** The state folder, which every process of its sessions names. */
  readonly home: string
  readonly observer: Observer
  /** Whether sessions can run on this machine. */
  readonly sessionChecks: (signal: AbortSignal) => Promise<Check[]>
}

type SessionApi = Pick<Api, keyof typeof sessionRoutes>

const running = new Set(['spawned', 'starting', 'running', 'waiting_input', 'idle', 'failed'])

/** What stands behind the routes of sessions: who may act, then what the kind of the session does. */
export function sessionHandlers(deps: SessionHandlerDeps): SessionApi {
  const { directory, engine, clock, host, observer } = deps
  const endedMs = async (id: SessionId) => (await directory.find(id)).endedMs
  const fresh = async (id: SessionId) => directory.view(await directory.find(id))
  /** As much of sessions as the caller may see. */
  const shown = async (rows: readonly SessionRow[], principal: Principal): Promise<SessionView[]> => {
    const sights = await Promise.all(rows.map((row) => sightOf(directory, principal, row)))
    const views = await directory.views(rows)
    return views.flatMap((view, i) =>
      sights[i] === 'all' ? [view] : sights[i] === 'name' ? [namedView(view)] : [],
    )
  }

  /** Those of which the caller may see what happens inside. */
  const inSight = async (rows: readonly SessionRow[], principal: Principal): Promise<SessionRow[]> => {
    const sights = await Promise.all(rows.map((row) => sightOf(directory, principal, row)))
    return rows.filter((_, i) => sights[i] === 'all')
  }

  const progressOf = ({ row, run }: Pick<Reached, 'row' | 'run'>) =>
    run ? directory.progressOfAgent({ row, run }) : directory.progress(row)

  /** Sessions and agents below a session, or the agents below an agent. */
  const childrenOf = async (
    { row, run }: Node,
    { recursive, principal }: { readonly recursive: boolean; readonly principal: Principal },
  ): Promise<SessionView[]> => {
    if (run) return agentsBelow(directory, { row, run }, { isRecursive: recursive })
    if ((await sightOf(directory, principal, row)) === 'nothing')
      await mayAct(directory, principal, { sessionId: row.sessionId, isOwnAllowed: true })
    const below = await directory.below(row, recursive)
    const agents = await agentsIn(directory, await inSight(recursive ? [row, ...below] : [row], principal))
    return [
      ...(await shown(below, principal)),
      ...agents.filter((agent) => recursive || agent.parent_session_id === row.shortId),
    ]
  }

  return reaching<keyof typeof sessionRoutes>(deps, {
    async spawnSession(request, { principal, signal }) {
      await refuseOnDuty(engine, principal)
      const caller = principal.kind === 'session' ? engine.session(principal.sessionId) : undefined
      const above =
        request.parent === undefined
          ? caller && (await directory.find(caller.sessionId))
          : (await reach(deps, request.parent, { principal, access: 'subtree' })).row
      if (above) kindOf(deps.kinds, above).checkParent(above)
      const parent = above && engine.session(above.sessionId)
      if (parent && hasEnded(parent))
        throw new AppError(
          'conflict',
          'that parent has ended; name another, or continue it with sm send, or sm resume if its program is gone',
        )
      const { sessions } = await host.open()
      return sessions.spawn(request, { asker: askerOf(engine, principal), parent, caller }, signal)
    },
    async listSessions({ parent, lifecycle, open, agents, origin, working_dir, ...page }, { principal }) {
      await observer.wanted()
      await directory.caughtUp()
      const filter = {
        ...(lifecycle && { lifecycle: [lifecycle] }),
        ...(origin && { origin }),
        ...(working_dir && { workingDir: working_dir }),
        ...(parent && { parentId: (await directory.find(parent, principal)).sessionId }),
      }
      const isOpen = open === undefined ? {} : { isOpen: open }
      const { within: seenFrom } = within(principal)
      const rows = await directory.ask('sessions', { ...page, ...filter, ...isOpen, seenFrom })
      // A session that said it is done is still there as long as its program is.
      const alive = open && page.before === undefined ? await stillRunning(directory, host, filter) : []
      const all = [...alive, ...rows]
      const inside = agents ? await inSight(all, principal) : []
      const ended = open ? await directory.ask('sessionCount', { ...filter, isOpen: false, seenFrom }) : 0
      return {
        sessions: [
          ...(await shown(all, principal)),
          ...(await agentsIn(directory, inside, { ...(open && { isOpen: true }) })),
        ],
        next: rows.length < page.limit ? null : (rows.at(-1)?.firstSeq ?? null),
        hidden: Math.max(0, ended - alive.length),
      }
    },
    async getSession({ id }, { principal }) {
      const found = await directory.findNode(id, principal)
      if (found.run) return directory.detailOfAgent(found)
      const { row } = found
      if ((await sightOf(directory, principal, row)) === 'name')
        return { ...namedView(await directory.view(row)), tools_used: {}, checkpoints: [] }
      await mayAct(directory, principal, { sessionId: row.sessionId, isOwnAllowed: true })
      if (row.origin !== 'observed') return directory.detail(row)
      await observer.wanted()
      return directory.detail(await directory.find(row.sessionId))
    },
    async updateSession({ name, task, lock, budget }, { principal, row, kind, by }) {
      // Nobody raises the budget that is there to hold them.
      if (budget) await mayAct(directory, principal, { sessionId: row.sessionId, isOwnAllowed: false })
      const worker = { cli: row.cli ?? 'own', model: row.model ?? undefined }
      refuseUncountedMoney(budget?.usd, deps.prices, [worker])
      const change = {
        ...(name !== undefined && { friendlyName: name }),
        ...(task !== undefined && { task }),
        ...(lock !== undefined && { lock }),
        ...(budget && { budget }),
        by: by.name,
      }
      await kind.update(row, change, by)
      return fresh(row.sessionId)
    },
    async listChildren({ id, recursive = false, status = 'all' }, { principal }) {
      const views = await childrenOf(await directory.findNode(id, principal), { recursive, principal })
      return {
        children: views.filter(
          (view) =>
            status === 'all' || (status === 'running' ? running.has(view.status) : view.status === status),
        ),
      }
    },
    getProgress: (_input, node) => progressOf(node),
    getMetrics: async (_input, node) => metricsOf(await progressOf(node)),
    listCheckpoints: async (_input, { row }) => ({ checkpoints: await directory.checkpoints(row) }),
    async addCheckpoint({ id: _id, ...said }, { row, kind, by, signal }) {
      const writer = await kind.writer(row, by)
      return addCheckpoint(deps, { row, writer, said }, signal)
    },
    diffCheckpoints: ({ from, to }, { row, signal }) => diffCheckpoints(deps, { row, from, to }, signal),
    async completeSession({ message, status }, { row, kind, by }) {
      await kind.complete(row, { message, status, by })
      return fresh(row.sessionId)
    },
    listSessionEvents: ({ id: _id, ...filter }, node) => sessionEventsOf(directory, node, filter),
    listFleetEvents: (filter, { principal }) => fleetEventsOf(directory, within(principal), filter),
    async sendMessage({ text, mode }, { principal, row, kind, by: from }) {
      if (principal.kind === 'session' && row.origin === 'workflow')
        throw new AppError('denied', 'only a person answers what a workflow asks; talk to one of its agents')
      const { messageId, isAnswer } = await kind.send(row, { text, mode, from })
      if (isAnswer) return answeredView(row, { messageId, text, mode, from: from.name, at: clock.now() })
      await directory.caughtUp()
      const [message] = await directory.ask('messages', { messageId, limit: 1 })
      if (!message)
        throw new AppError(
          'unavailable',
          `the message is queued as ${messageId}, but the index is behind; see: sm messages`,
        )
      return directory.message(message)
    },
    async listMessages({ limit, failed }, { row }) {
      const rows = await directory.ask('messages', { sessionId: row.sessionId, limit })
      return {
        messages: rows
          .filter(({ state }) => state !== 'created' && (!failed || state === 'failed'))
          .map((one) => directory.message(one)),
      }
    },
    async getMessage({ message }, { principal }) {
      await directory.caughtUp()
      const [found] = await directory.ask('messages', { messageId: message, limit: 1 })
      const row = await seenBy(directory, principal, found)
      if (!row) throw new AppError('not_found', `no message ${message}; sm messages lists them`)
      return directory.message(row)
    },
    async interruptSession(_input, { row, kind, by }) {
      await kind.interrupt(row, by)
      return fresh(row.sessionId)
    },
    async listUnsaved(_input, { row, run, signal }) {
      if (run) return { sessions: [unsavedOfAgent(await viewOfAgent(directory, { row, run }))] }
      const { parts, sessions } = await host.open()
      const rows = [row, ...(await directory.below(row, true))].filter(({ sessionId }) =>
        sessions.get(sessionId),
      )
      const views = await directory.views(rows)
      return { sessions: await Promise.all(views.map((view) => unsavedOf(parts, view, signal))) }
    },
    killSession: ({ force, reason }, { row, run, kind, by }) =>
      run
        ? kind.killAgent({ row, run }, { reason, by })
        : kind.kill(row, { force: force ?? false, reason, by }),
    async resumeSession(_input, { row, kind, by, signal }) {
      await kind.resume(row, by, signal)
      return fresh(row.sessionId)
    },
    async adoptSession({ parent, environment }, { principal, row, kind, by, signal }) {
      await refuseOnDuty(engine, principal)
      // A session moves what is below it within its own tree: as a root it would be free of every limit above it.
      const own = principal.kind === 'session' ? principal.sessionId : undefined
      const above = parent ?? own
      const under =
        above === undefined ? undefined : (await reach(deps, above, { principal, access: 'subtree' })).row
      await kind.adopt(row, { parent: under?.sessionId, by, environment }, signal)
      return fresh(row.sessionId)
    },
    explainSession: (_input, { row, kind }) => kind.explain(row),
    getOutput: ({ lines }, { row, run, kind, signal }) =>
      run ? outputOfAgent(directory, run, lines) : kind.output(row, lines, signal),
    getTranscript: ({ limit }, { row, run, kind }) =>
      run ? recordedTranscript(directory, run, limit) : kind.transcript(row, limit),
    getAttach: (_input, { row, kind }) => kind.attach(row),
    getSummary: (_input, { row }) => summaryOf(directory, row),
    async listApprovals({ session, all, limit }, { principal }) {
      await directory.caughtUp()
      const row = session === undefined ? undefined : await directory.find(session, principal)
      if (row) await mayAct(directory, principal, { sessionId: row.sessionId, isOwnAllowed: true })
      const rows = await directory.ask('approvals', {
        limit,
        ...within(principal),
        ...(row && { sessionId: row.sessionId }),
        ...(!all && { isPending: true }),
      })
      return { approvals: await Promise.all(rows.map((one) => approvalView(directory, one))) }
    },
    decideApproval: (input, { principal }) => decideApproval(deps, { ...input, principal }),
    listProcesses: async (_input, { principal, signal }) => ({
      processes: await processesOf({ ...deps, endedMs }, (id) => sees(directory, principal, id), signal),
    }),
    async restoreSessions({ dry_run }, { signal }) {
      const { sessions } = await host.open()
      const table = await sessions.restore(dry_run ?? false, signal)
      return {
        sessions: table.map(({ sessionId, result, why }) => {
          const managed = engine.session(sessionId)?.managed
          const name = managed?.friendlyName ?? managed?.name ?? shortId(sessionId)
          return { session_id: shortId(sessionId), name, result, why }
        }),
      }
    },
    checkSessions: async (_input, { signal }) => ({ checks: await deps.sessionChecks(signal) }),
    async whoAmI(_input, { principal }) {
      if (principal.kind !== 'session') return { session: null, operator: principal.kind === 'operator' }
      return { session: await fresh(principal.sessionId), operator: false }
    },
    async receiveHook({ cli, ...payload }, { principal, signal }) {
      const { sessions } = await host.open()
      const live = reporting(sessions, principal)
      const reply = await sessions.hook(live, { cli, payload, at: clock.now() }, signal)
      return reply.body === '' ? {} : JSON.parse(reply.body)
    },
    async runHook({ cli, at, payload }, { principal, signal }) {
      const { sessions } = await host.open()
      const reply = await sessions.hook(reporting(sessions, principal), { cli, payload, at }, signal)
      return { body: reply.body, exit_code: reply.exitCode }
    },
  })
}

function reporting(sessions: Sessions, principal: Principal): Live {
  const live = principal.kind === 'session' ? sessions.get(principal.sessionId) : undefined
  if (!live) throw new AppError('denied', 'a hook must report with the token of a running session')
  return live
}

/** What a list asks for; what is left out fits everything. */
type Filter = {
  readonly lifecycle?: readonly string[]
  readonly origin?: string
  readonly workingDir?: string
  readonly parentId?: string
}

/** Sessions that have ended and whose program is still there, as far as the filter wants them. */
async function stillRunning(directory: Directory, host: SessionHost, filter: Filter): Promise<SessionRow[]> {
  const sessions = host.current()
  const ended = [...(sessions?.all() ?? [])].filter(({ watch }) => {
    const state = watch.state()
    return state !== undefined && hasEnded(state) && sessions?.isRunning(watch.id)
  })
  const rows = await Promise.all(ended.map(({ watch }) => directory.find(watch.id)))
  return rows.filter(
    (row) =>
      (filter.lifecycle?.includes(row.lifecycle ?? '') ?? true) &&
      (filter.origin ?? row.origin) === row.origin &&
      (filter.workingDir ?? row.workingDir) === row.workingDir &&
      (filter.parentId ?? row.parentId) === row.parentId,
  )
}
