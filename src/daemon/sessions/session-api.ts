import type { Decision } from '../../contract/decision.ts'
import { AppError } from '../../contract/errors.ts'
import { type SessionId, shortId } from '../../contract/ids.ts'
import type { SessionRow } from '../../contract/index-rows.ts'
import type { Principal } from '../../contract/principal.ts'
import type { Api } from '../../contract/routes.ts'
import type { sessionRoutes } from '../../contract/session-routes.ts'
import { noEvidence } from '../../core/session/evidence/evidence.ts'
import { explain } from '../../core/session/evidence/verdict.ts'
import { metricsOf } from '../../core/session/progress-view.ts'
import { hasEnded } from '../../core/session/state.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Observer } from '../../engine/observe/observer.ts'
import { anyQuestion } from '../../engine/sessions/approvals.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import { paneOf } from '../../engine/sessions/place.ts'
import type { Live, Sessions } from '../../engine/sessions/sessions.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Processes } from '../../ports/processes.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Workflows } from '../../workflow/workflows.ts'
import { explainOwn } from '../runtime/explain-own.ts'
import {
  endOwn,
  isOwn,
  notResumed,
  openOwn,
  ownReached,
  sendToOwn,
  updateOwn,
} from '../runtime/own-session.ts'
import { ownTranscript } from '../runtime/own-transcript.ts'
import { adoptSession } from './adopt-session.ts'
import { approvalView } from './approval-view.ts'
import { checkSessions } from './check-sessions.ts'
import { addCheckpoint, diffCheckpoints, type Reached } from './checkpoints.ts'
import { decideAsk } from './decide-ask.ts'
import type { Directory } from './directory.ts'
import { killTree } from './kill-tree.ts'
import { mayAct, nameOf } from './may-act.ts'
import { answeredView, messageView } from './message-view.ts'
import { processesOf } from './processes-of.ts'
import { type Looking, onlyObserved, recordOf } from './record-of.ts'
import { refuseOnDuty } from './refuse-on-duty.ts'
import { sessionEventsOf } from './session-events.ts'
import type { SessionHost } from './session-host.ts'
import { stillRunning } from './still-running.ts'
import { summaryOf } from './summary.ts'
import { linesOf, transcriptOf } from './transcript-view.ts'
import { unsavedOf } from './unsaved.ts'

export type SessionApiDeps = {
  readonly directory: Directory
  readonly engine: Engine
  readonly clock: Clock
  readonly host: SessionHost
  readonly processes: Processes
  /** The state folder, which every process of its sessions names. */
  readonly home: string
  readonly observer: Observer
  /** What reading a conversation needs; no terminal. */
  readonly looking: Looking
  readonly runtime: Runtime
  readonly workflows: Workflows
}

type SessionApi = Pick<Api, keyof typeof sessionRoutes>

const running = new Set(['spawned', 'starting', 'running', 'waiting_input', 'idle'])

/** What stands behind the routes of managed sessions. */
export function sessionApi(deps: SessionApiDeps): SessionApi {
  const { directory, engine, clock, host, observer, looking, runtime } = deps
  /** The session a caller names and may act on. */
  const own = async (word: string, principal: Principal, isOwnAllowed = true): Promise<SessionRow> => {
    const row = await directory.find(word)
    mayAct(engine, principal, { sessionId: row.sessionId, isOwnAllowed })
    return row
  }
  const fresh = async (id: SessionId) => directory.view(await directory.find(id))

  return {
    async spawnSession(request, { principal, signal }) {
      await refuseOnDuty(engine, principal)
      const parentId =
        request.parent === undefined
          ? principal.kind === 'session'
            ? principal.sessionId
            : undefined
          : (await own(request.parent, principal)).sessionId
      const parent = parentId && engine.session(parentId)
      if (parent?.managed?.origin === 'observed') throw onlyObserved(await directory.find(parent.sessionId))
      if (parent && hasEnded(parent))
        throw new AppError('conflict', 'that parent has ended; name another, or reopen it with: sm send')
      const { sessions } = await host.open()
      const caller = principal.kind === 'session' ? engine.session(principal.sessionId) : undefined
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
      if (row.origin === 'observed') await observer.wanted()
      return directory.detail(row.origin === 'observed' ? await directory.find(row.sessionId) : row)
    },
    async updateSession({ id, name, task, lock, budget }, { principal }) {
      // Nobody raises the budget that is there to hold them.
      const row = await own(id, principal, budget === undefined)
      const by = nameOf(engine, principal)
      const change = {
        ...(name !== undefined && { friendlyName: name }),
        ...(task !== undefined && { task }),
        ...(lock !== undefined && { lock }),
        ...(budget && { budget }),
      }
      if (isOwn(row)) {
        await updateOwn(deps, row, { by, change })
        return fresh(row.sessionId)
      }
      const { watch, delivery } = directory.live(row)
      await watch.say([draftOf(watch.root, 'session.updated', { ...change, by })])
      delivery.poke()
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
      const row = await own(id, principal)
      const { parts } = await host.open()
      const reached = isOwn(row)
        ? ownReached(deps, row, nameOf(engine, principal))
        : await reachedBy(directory.live(row))
      return addCheckpoint({ parts, directory }, { ...reached, row, said }, signal)
    },
    async diffCheckpoints({ id, from, to }, { principal, signal }) {
      const row = await own(id, principal)
      const { parts } = await host.open()
      return diffCheckpoints({ parts, directory }, { row, from, to }, signal)
    },
    async completeSession({ id, message, status }, { principal }) {
      const row = await own(id, principal)
      if (isOwn(row)) {
        await endOwn(deps, row, { status, message, by: nameOf(engine, principal) })
        return fresh(row.sessionId)
      }
      const { sessions } = await host.open()
      await sessions.complete(directory.live(row), { message, status })
      return fresh(row.sessionId)
    },
    async listSessionEvents({ id, ...filter }) {
      const row = await directory.find(id)
      return sessionEventsOf(directory, row, filter)
    },
    async sendMessage({ id, text, mode }, { principal }) {
      const row = await own(id, principal, false)
      const from = nameOf(engine, principal)
      const sent = async (messageId: string) => {
        await directory.caughtUp()
        const [message] = await directory.ask('messages', { messageId, limit: 1 })
        if (!message) throw new AppError('unavailable', `it is queued as ${messageId}; the index is behind`)
        return messageView(message)
      }
      if (isOwn(row)) {
        const { messageId, isAnswer } = await sendToOwn(deps, row, { text, mode, from })
        return isAnswer
          ? answeredView(row, { messageId, text, mode, from, at: clock.now() })
          : sent(messageId)
      }
      const live = directory.live(row)
      const { sessions } = await host.open()
      const question = engine.session(row.sessionId)?.asks?.find(({ subject }) => subject === 'question')
      if (question && sessions.approvals.isHeld(question.approvalId)) {
        const decision: Decision = { verdict: 'allow', scope: 'once', answers: { [anyQuestion]: text } }
        await sessions.approvals.decide(live.watch, question, { decision, by: from })
        return answeredView(row, { messageId: question.approvalId, text, mode, from, at: clock.now() })
      }
      return sent(await sessions.send(live, { text, mode, from }))
    },
    async listMessages({ id, limit, failed }, { principal }) {
      const row = await own(id, principal)
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
      const row = await own(id, principal, false)
      if (isOwn(row)) {
        await runtime.interrupt(openOwn(deps, row).sessionId, nameOf(engine, principal))
        return fresh(row.sessionId)
      }
      const { sessions } = await host.open()
      await sessions.interrupt(directory.live(row))
      return fresh(row.sessionId)
    },
    async listUnsaved({ id }, { principal, signal }) {
      const row = await own(id, principal)
      const { parts, sessions } = await host.open()
      const rows = [row, ...(await directory.below(row, true))].filter(({ sessionId }) =>
        sessions.get(sessionId),
      )
      const views = await directory.views(rows)
      return { sessions: await Promise.all(views.map((view) => unsavedOf(parts, view, signal))) }
    },
    async killSession({ id, force, reason }, { principal }) {
      const row = await own(id, principal)
      if (row.origin === 'observed') throw onlyObserved(row)
      const by = nameOf(engine, principal)
      if (isOwn(row)) {
        await endOwn(deps, row, { status: 'killed', by, reason })
        return { killed: [await fresh(row.sessionId)], left: [] }
      }
      const { sessions } = await host.open()
      const how = { force: force ?? false, reason, by }
      return killTree({ directory, sessions }, row, how)
    },
    async resumeSession({ id }, { principal, signal }) {
      const row = await own(id, principal, false)
      const { sessions } = await host.open()
      const state = await engine.known(row.sessionId)
      if (row.origin === 'observed') throw onlyObserved(row)
      if (isOwn(row)) throw notResumed(row)
      if (!state)
        throw new AppError('conflict', `${row.shortId} is a record only; there is nothing to resume`)
      await sessions.resume(state, nameOf(engine, principal), signal)
      return fresh(row.sessionId)
    },
    async adoptSession({ id, parent, environment }, { principal, signal }) {
      await refuseOnDuty(engine, principal)
      const row = await own(id, principal)
      const above = parent === undefined ? undefined : await own(parent, principal)
      const by = nameOf(engine, principal)
      const wanted = { row, parent: above?.sessionId, by, environment }
      await adoptSession({ engine, host, observer }, wanted, signal)
      return fresh(row.sessionId)
    },
    async explainSession({ id }, { principal }) {
      const row = await own(id, principal)
      if (isOwn(row)) return explainOwn(await directory.view(row), { runtime, clock })
      if (row.origin !== 'observed') directory.live(row)
      const { evidence = noEvidence, options } = directory.seen(row.sessionId)
      const { verdict, signs, wouldChange } = explain(evidence, options)
      return {
        session_id: row.shortId,
        name: row.friendlyName ?? row.name ?? row.shortId,
        status: verdict.lifecycle,
        activity: verdict.activity,
        health: verdict.health,
        waiting_for: verdict.waitingFor ?? null,
        expires_in_ms: verdict.until === undefined ? null : Math.max(0, verdict.until - clock.now()),
        signals: signs.map(({ signal, source, ageMs, weight, says, counted }) => ({
          signal,
          source,
          age_ms: ageMs,
          weight,
          says,
          counted,
        })),
        would_change: [...wouldChange],
      }
    },
    async getOutput({ id, lines }, { principal, signal }) {
      const row = await own(id, principal)
      if (isOwn(row)) {
        const { entries } = await ownTranscript(directory, row.sessionId, lines)
        return { lines: linesOf(entries, lines), is_alive: row.endedMs === null }
      }
      if (row.origin === 'observed') {
        const record = await recordOf(deps, row)
        const { entries } = await transcriptOf(looking, { ...record, limit: lines })
        return { lines: linesOf(entries, lines), is_alive: true }
      }
      const place = engine.session(row.sessionId)?.managed?.place
      if (!place) throw new AppError('conflict', 'the session has no terminal')
      const { parts, sessions } = await host.open()
      const screen = await parts.terminal.capture(paneOf(place), signal, lines)
      const text = screen.lines.map((line) => line.trimEnd())
      while (text.at(-1) === '') text.pop()
      return { lines: text.slice(-lines), is_alive: sessions.isRunning(row.sessionId) }
    },
    async getTranscript({ id, limit }, { principal }) {
      const row = await own(id, principal)
      if (isOwn(row)) return ownTranscript(directory, row.sessionId, limit)
      return transcriptOf(looking, { ...(await recordOf(deps, row)), limit })
    },
    async getAttach({ id }, { principal }) {
      const row = await own(id, principal)
      if (row.origin === 'observed') throw onlyObserved(row)
      if (isOwn(row))
        throw new AppError(
          'conflict',
          `${row.shortId} is an agent of our own and has no terminal; speak with it: sm chat --session ${row.shortId}`,
        )
      const place = engine.session(row.sessionId)?.managed?.place
      if (!place) throw new AppError('conflict', 'the session has no terminal to attach to')
      const { parts } = await host.open()
      return {
        argv: [...parts.terminal.attachArgv(paneOf(place))],
        session_id: row.shortId,
        name: row.friendlyName ?? row.name ?? row.shortId,
      }
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
    decideApproval: (input, { principal }) => decideAsk(deps, { ...input, principal }),
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
    checkSessions: async (_input, { signal }) => ({ checks: await checkSessions(host, signal) }),
    async whoAmI(_input, { principal }) {
      if (principal.kind !== 'session') return { session: null, operator: principal.kind === 'operator' }
      return { session: await fresh(principal.sessionId), operator: false }
    },
    async receiveHook({ cli, ...payload }, { principal, signal }) {
      const { sessions } = await host.open()
      const live = liveOf(sessions, principal)
      const reply = await sessions.hook(live, { cli, payload, at: clock.now() }, signal)
      return reply.body === '' ? {} : JSON.parse(reply.body)
    },
    async runHook({ cli, at, payload }, { principal, signal }) {
      const { sessions } = await host.open()
      const reply = await sessions.hook(liveOf(sessions, principal), { cli, payload, at }, signal)
      return { body: reply.body, exit_code: reply.exitCode }
    },
  }
}

/** A milestone of a session in a terminal; what its transcript says first is told first. */
async function reachedBy({ transcript, watch }: Live): Promise<Omit<Reached, 'row'>> {
  await transcript.settled()
  return {
    root: watch.root,
    isIsolated: watch.state()?.managed?.isolation !== undefined,
    say: (drafts) => watch.say(drafts),
  }
}

function liveOf(sessions: Sessions, principal: Principal): Live {
  const live = principal.kind === 'session' ? sessions.get(principal.sessionId) : undefined
  if (!live) throw new AppError('denied', 'a hook reports with the token of a session that runs')
  return live
}
