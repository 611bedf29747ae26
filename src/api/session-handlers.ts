import { AppError } from '../contract/errors.ts'
import type { Check } from '../contract/health.ts'
import { type SessionId, shortId } from '../contract/ids.ts'
import type { SessionRow } from '../contract/index-rows.ts'
import type { Principal } from '../contract/principal.ts'
import type { Api } from '../contract/routes.ts'
import type { sessionRoutes } from '../contract/session-routes.ts'
import { metricsOf } from '../core/session/progress-view.ts'
import { hasEnded } from '../core/session/state.ts'
import type { Engine } from '../engine/engine.ts'
import type { Observer } from '../engine/observer.ts'
import type { Live, Sessions } from '../engine/sessions/sessions.ts'
import type { Clock, Ids } from '../ports/clock.ts'
import type { Processes } from '../ports/processes.ts'
import type { Workspace } from '../ports/workspace.ts'
import { decideApproval } from './decide-approval.ts'
import type { Directory } from './directory.ts'
import { unsavedOf } from './kill-sessions.ts'
import { addCheckpoint, diffCheckpoints } from './milestones.ts'
import { processesOf } from './processes-of.ts'
import { sessionEventsOf } from './session-events.ts'
import type { SessionHost } from './session-host.ts'
import { kindOf, type SessionKinds } from './session-kinds/session-kind.ts'
import { answeredView, approvalView, messageView, summaryOf } from './session-views.ts'
import { mayAct, nameOf, refuseOnDuty } from './who-may.ts'

export type SessionHandlerDeps = {
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

const running = new Set(['spawned', 'starting', 'running', 'waiting_input', 'idle'])

/** What stands behind the routes of sessions: who may act, then what the kind of the session does. */
export function sessionHandlers(deps: SessionHandlerDeps): SessionApi {
  const { directory, engine, clock, host, observer } = deps
  /** The session a caller names and may act on, with its kind. */
  const reach = async (word: string, principal: Principal, isOwnAllowed = true) => {
    const row = await directory.find(word)
    mayAct(engine, principal, { sessionId: row.sessionId, isOwnAllowed })
    return { row, kind: kindOf(deps.kinds, row), by: nameOf(engine, principal) }
  }
  const fresh = async (id: SessionId) => directory.view(await directory.find(id))

  return {
    async spawnSession(request, { principal, signal }) {
      await refuseOnDuty(engine, principal)
      const caller = principal.kind === 'session' ? engine.session(principal.sessionId) : undefined
      const above =
        request.parent === undefined
          ? caller && (await directory.find(caller.sessionId))
          : (await reach(request.parent, principal)).row
      if (above) kindOf(deps.kinds, above).checkParent(above)
      const parent = above && engine.session(above.sessionId)
      if (parent && hasEnded(parent))
        throw new AppError('conflict', 'that parent has ended; name another, or reopen it with: sm send')
      const { sessions } = await host.open()
      const confined = caller?.managed?.isolation ? caller : undefined
      return sessions.spawn(request, { actor: nameOf(engine, principal), parent, confined }, signal)
    },
    async listSessions({ parent, lifecycle, open, origin, working_dir, ...page }) {
      await observer.wanted()
      await directory.caughtUp()
      const filter = {
        ...(lifecycle && { lifecycle: [lifecycle] }),
        ...(origin && { origin }),
        ...(working_dir && { workingDir: working_dir }),
        ...(parent && { parentId: (await directory.find(parent)).sessionId }),
      }
      const isOpen = open === undefined ? {} : { isOpen: open }
      const rows = await directory.ask('sessions', { ...page, ...filter, ...isOpen })
      // A session that said it is done is still there as long as its program is.
      const alive = open && page.before === undefined ? await stillRunning(directory, host, filter) : []
      return {
        sessions: await directory.views([...alive, ...rows]),
        next: rows.length < page.limit ? null : (rows.at(-1)?.firstSeq ?? null),
      }
    },
    async getSession({ id }) {
      const row = await directory.find(id)
      if (row.origin !== 'observed') return directory.detail(row)
      await observer.wanted()
      return directory.detail(await directory.find(row.sessionId))
    },
    async updateSession({ id, name, task, lock, budget }, { principal }) {
      // Nobody raises the budget that is there to hold them.
      const { row, kind, by } = await reach(id, principal, budget === undefined)
      await kind.update(row, {
        ...(name !== undefined && { friendlyName: name }),
        ...(task !== undefined && { task }),
        ...(lock !== undefined && { lock }),
        ...(budget && { budget }),
        by,
      })
      return fresh(row.sessionId)
    },
    async listChildren({ id, recursive, status = 'all' }) {
      const row = await directory.find(id)
      const views = await directory.views(await directory.below(row, recursive ?? false))
      return {
        children: views.filter(
          (view) =>
            status === 'all' || (status === 'running' ? running.has(view.status) : view.status === status),
        ),
      }
    },
    getProgress: async ({ id }) => directory.progress(await directory.find(id)),
    getMetrics: async ({ id }) => metricsOf(await directory.progress(await directory.find(id))),
    listCheckpoints: async ({ id }) => ({
      checkpoints: await directory.checkpoints((await directory.find(id)).sessionId),
    }),
    async addCheckpoint({ id, ...said }, { principal, signal }) {
      const { row, kind, by } = await reach(id, principal)
      const place = await kind.milestonePlace(row, by)
      return addCheckpoint(deps, { row, place, said }, signal)
    },
    async diffCheckpoints({ id, from, to }, { principal, signal }) {
      const { row } = await reach(id, principal)
      return diffCheckpoints(deps, { row, from, to }, signal)
    },
    async completeSession({ id, message, status }, { principal }) {
      const { row, kind, by } = await reach(id, principal)
      await kind.complete(row, { message, status, by })
      return fresh(row.sessionId)
    },
    async listSessionEvents({ id, ...filter }) {
      const row = await directory.find(id)
      return sessionEventsOf(directory, row, filter)
    },
    async sendMessage({ id, text, mode }, { principal }) {
      const { row, kind, by: from } = await reach(id, principal, false)
      const { messageId, isAnswer } = await kind.send(row, { text, mode, from })
      if (isAnswer) return answeredView(row, { messageId, text, mode, from, at: clock.now() })
      await directory.caughtUp()
      const [message] = await directory.ask('messages', { messageId, limit: 1 })
      if (!message)
        throw new AppError(
          'unavailable',
          `the message is queued as ${messageId}, but the index is behind; see: sm messages`,
        )
      return messageView(message)
    },
    async listMessages({ id, limit, failed }, { principal }) {
      const { row } = await reach(id, principal)
      const rows = await directory.ask('messages', { sessionId: row.sessionId, limit })
      return {
        messages: rows
          .filter(({ state }) => state !== 'created' && (!failed || state === 'failed'))
          .map(messageView),
      }
    },
    async getMessage({ message }, { principal }) {
      await directory.caughtUp()
      const [row] = await directory.ask('messages', { messageId: message, limit: 1 })
      if (!row) throw new AppError('not_found', `no message ${message}; sm messages lists them`)
      mayAct(engine, principal, { sessionId: row.sessionId, isOwnAllowed: true })
      return messageView(row)
    },
    async interruptSession({ id }, { principal }) {
      const { row, kind, by } = await reach(id, principal, false)
      await kind.interrupt(row, by)
      return fresh(row.sessionId)
    },
    async listUnsaved({ id }, { principal, signal }) {
      const { row } = await reach(id, principal)
      const { parts, sessions } = await host.open()
      const rows = [row, ...(await directory.below(row, true))].filter(({ sessionId }) =>
        sessions.get(sessionId),
      )
      const views = await directory.views(rows)
      return { sessions: await Promise.all(views.map((view) => unsavedOf(parts, view, signal))) }
    },
    async killSession({ id, force, reason }, { principal }) {
      const { row, kind, by } = await reach(id, principal)
      return kind.kill(row, { force: force ?? false, reason, by })
    },
    async resumeSession({ id }, { principal, signal }) {
      const { row, kind, by } = await reach(id, principal, false)
      await kind.resume(row, by, signal)
      return fresh(row.sessionId)
    },
    async adoptSession({ id, parent, environment }, { principal, signal }) {
      await refuseOnDuty(engine, principal)
      const { row, kind, by } = await reach(id, principal)
      const above = parent === undefined ? undefined : (await reach(parent, principal)).row
      await kind.adopt(row, { parent: above?.sessionId, by, environment }, signal)
      return fresh(row.sessionId)
    },
    async explainSession({ id }, { principal }) {
      const { row, kind } = await reach(id, principal)
      return kind.explain(row)
    },
    async getOutput({ id, lines }, { principal, signal }) {
      const { row, kind } = await reach(id, principal)
      return kind.output(row, lines, signal)
    },
    async getTranscript({ id, limit }, { principal }) {
      const { row, kind } = await reach(id, principal)
      return kind.transcript(row, limit)
    },
    async getAttach({ id }, { principal }) {
      const { row, kind } = await reach(id, principal)
      return kind.attach(row)
    },
    getSummary: async ({ id }) => summaryOf(directory, await directory.find(id)),
    async listApprovals({ session, all, limit }) {
      await directory.caughtUp()
      const row = session === undefined ? undefined : await directory.find(session)
      const rows = await directory.ask('approvals', {
        limit,
        ...(row && { sessionId: row.sessionId }),
        ...(!all && { isPending: true }),
      })
      return { approvals: await Promise.all(rows.map((one) => approvalView(directory, one))) }
    },
    decideApproval: (input, { principal }) => decideApproval(deps, { ...input, principal }),
    listProcesses: async (_input, { signal }) => ({ processes: await processesOf(deps, signal) }),
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
  }
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
