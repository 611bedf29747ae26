import type { Decision } from '../../contract/decision.ts'
import { AppError } from '../../contract/errors.ts'
import type { AgentEvent } from '../../contract/event.ts'
import type { SessionRow } from '../../contract/index-rows.ts'
import type { Asker } from '../../contract/principal.ts'
import { anyQuestion } from '../../contract/question-answers.ts'
import type { ExplanationView } from '../../contract/session-views.ts'
import type { OpenApproval } from '../../core/approvals/open-approvals.ts'
import { raisedBudget } from '../../core/ledger/budget.ts'
import { agentName } from '../../core/session/agent-view.ts'
import { noEvidence } from '../../core/session/evidence/evidence.ts'
import { explain } from '../../core/session/evidence/verdict.ts'
import { checkAdoption } from '../../core/session/session-tree.ts'
import { hasEnded, type SessionState } from '../../core/session/state.ts'
import type { Engine } from '../../engine/engine.ts'
import { adopt } from '../../engine/sessions/adopt.ts'
import { askedBy, draftOf } from '../../engine/sessions/drafts.ts'
import { paneOf } from '../../engine/sessions/read-screen.ts'
import type { Live, Sessions } from '../../engine/sessions/sessions.ts'
import type { Said } from '../../engine/sessions/write-end.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Directory } from '../directory.ts'
import { killTree } from '../kill-sessions.ts'
import type { SessionHost } from '../session-host.ts'
import { type ReadsTranscripts, transcriptOf, writtenTranscript } from '../transcripts.ts'
import { type SessionKind, titleOf } from './session-kind.ts'

export type TerminalDeps = ReadsTranscripts & {
  readonly engine: Engine
  readonly directory: Directory
  readonly host: SessionHost
  readonly clock: Clock
}

/** A program in a terminal that Muster started and follows. */
export function terminalSession(deps: TerminalDeps): SessionKind {
  const { engine, directory, host, clock } = deps
  const live = (row: SessionRow): Live => liveTerminal(host, row)
  return {
    checkParent() {},
    async update(row, change, by) {
      const { watch, delivery } = live(row)
      await watch.say([draftOf(askedBy(watch.root, by), 'session.updated', change)])
      delivery.poke()
    },
    async writer(row, by) {
      const { watch } = await unended(live(row), row)
      return {
        root: askedBy(watch.root, by),
        isIsolated: watch.state()?.managed?.isolation !== undefined,
        say: (drafts) => watch.say(drafts),
      }
    },
    async complete(row, { message, status, by }) {
      const { sessions } = await host.open()
      await sessions.complete(await unended(live(row), row), { message, status, by })
    },
    async send(row, { text, mode, from }) {
      const found = live(row)
      const { sessions } = await host.open()
      // What was asked before the daemon began may be a question that these words answer.
      if (sessions.approvals.isDue(found.watch)) await sessions.approvals.reread(found.watch)
      const question = engine.session(row.sessionId)?.asks?.find(({ subject }) => subject === 'question')
      if (!question || !sessions.approvals.isHeld(question.approvalId))
        return {
          messageId: await sessions.send(found, { text, mode, from: from.name, by: from.by }),
          isAnswer: false,
        }
      const decision: Decision = { verdict: 'allow', scope: 'once', answers: { [anyQuestion]: text } }
      await sessions.approvals.decide(found.watch, question, { decision, by: from })
      return { messageId: question.approvalId, isAnswer: true }
    },
    async interrupt(row, by) {
      const { sessions } = await host.open()
      await sessions.interruptFor(live(row), by)
    },
    async kill(row, how) {
      const { sessions, parts } = await host.open()
      return killTree({ directory, sessions, parts }, row, how)
    },
    async killAgent({ row, run }) {
      throw new AppError(
        'conflict',
        `${agentName(run, row)} (${run.shortId}) works inside of the program of ${titleOf(row)}, and only that can end it; stop what it does with: sm interrupt ${row.shortId}`,
      )
    },
    async resume(row, by, signal) {
      const { sessions } = await host.open()
      const state = await engine.known(row.sessionId)
      if (!state)
        throw new AppError('conflict', `${row.shortId} is only a record; there is nothing to resume`)
      await sessions.resume(state, by, signal)
    },
    async adopt(row, { parent, by }, signal) {
      const { parts, sessions } = await host.open()
      const id = row.sessionId
      const state = await engine.known(id)
      if (!state?.managed)
        throw new AppError('conflict', `${row.shortId} is only a record; there is nothing to adopt`)
      // Refused before anything is started.
      const open = new Map(Array.from(engine.sessions(), (one) => [one.sessionId, one]))
      checkAdoption(open, { child: id, parent }, parts.config().limits)
      if (!sessions.isRunning(id)) await sessions.resume(state, by, signal)
      const running = sessions.get(id)
      if (running) await adopt(parts, running.watch, { parent, by })
    },
    async explain(row) {
      live(row)
      return explainSeen(row, directory, clock)
    },
    async output(row, lines, signal) {
      const place = engine.session(row.sessionId)?.managed?.place
      if (!place) throw new AppError('conflict', 'the session has no terminal')
      const { parts, sessions } = await host.open()
      const screen = await parts.terminal.capture(paneOf(place), signal, lines)
      const text = screen.lines.map((line) => line.trimEnd())
      while (text.at(-1) === '') text.pop()
      return { lines: text.slice(-lines), is_alive: sessions.isRunning(row.sessionId) }
    },
    transcript: async (row, limit) => transcriptOf(deps, { ...(await writtenTranscript(deps, row)), limit }),
    async attach(row) {
      const place = engine.session(row.sessionId)?.managed?.place
      if (!place) throw new AppError('conflict', 'the session has no terminal to attach to')
      const { parts } = await host.open()
      return {
        argv: [...parts.terminal.attachArgv(paneOf(place))],
        session_id: row.shortId,
        name: titleOf(row),
      }
    },
    async reread({ sessionId }) {
      const { sessions } = await host.open()
      const followed = sessions.get(sessionId)
      if (followed && sessions.isRunning(sessionId)) await sessions.approvals.reread(followed.watch)
    },
    async decide(state, ask, decided) {
      const { sessions } = await host.open()
      const found = live(await directory.find(state.sessionId))
      await sessions.approvals.decide(found.watch, ask, decided)
      if (decided.decision.verdict === 'allow')
        await doAgreed(deps, { state, ask, by: decided.by, live: found, sessions })
    },
  }
}

/** The live part of a session in a terminal; without a program that runs it says how to get one. */
export function liveTerminal(host: SessionHost, row: SessionRow): Live {
  const sessions = host.current()
  if (!sessions) throw new AppError('unavailable', 'terminals are not available; see: sm doctor')
  const live = sessions.get(row.sessionId)
  if (!live)
    throw new AppError(
      'conflict',
      `${titleOf(row)} has no running program; start it again with: sm resume ${row.shortId}`,
    )
  return live
}

/** A session that has not ended, once what its transcript says first is told. */
async function unended(found: Live, row: SessionRow): Promise<Live> {
  await found.transcript.settled()
  const state = found.watch.state()
  if (!state || !hasEnded(state)) return found
  const { shortId } = row
  throw new AppError(
    'conflict',
    `${titleOf(row)} is already ${state.lifecycle}; continue it with: sm send ${shortId} "…" (or sm resume ${shortId}, if its program is gone)`,
  )
}

/** What was seen of a session and what it means. */
export function explainSeen(row: SessionRow, directory: Directory, clock: Clock): ExplanationView {
  const { evidence = noEvidence, shown, options } = directory.seen(row.sessionId)
  const { verdict, signs, wouldChange } = explain(evidence, options)
  return {
    session_id: row.shortId,
    name: titleOf(row),
    status: shown ?? verdict.lifecycle,
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
}

type Agreed = {
  readonly state: Readonly<SessionState>
  readonly ask: OpenApproval
  readonly by: Asker
  readonly live: Live
  readonly sessions: Sessions
}

/** More budget, or the end, as it was proposed when it was asked. */
async function doAgreed(
  { directory, engine }: TerminalDeps,
  { state, ask, by, live, sessions }: Agreed,
): Promise<void> {
  const { watch, delivery } = live
  if (ask.subject === 'budget') {
    const budget = engine.session(state.sessionId)?.managed?.budget
    const [sum] = await directory.ask('usage', { sessionId: state.sessionId, isSubtree: true })
    const used = { tokens: sum?.tokens ?? 0, usd: sum?.costUsd ?? null }
    const raised = budget && { budget: raisedBudget(budget, used), by: by.name }
    if (raised) await watch.say([draftOf(askedBy(watch.root, by), 'session.updated', raised)])
    delivery.poke()
  }
  if (ask.subject === 'termination') {
    await directory.caughtUp()
    const [row] = await directory.ask('approvals', { approvalId: ask.approvalId, limit: 1 })
    await sessions.complete(live, { ...proposedEnd(row && (await directory.event(row.seq))), by })
    await sessions.ends.terminate(live)
  }
}

function proposedEnd(asked: AgentEvent | undefined): Omit<Said, 'by'> {
  if (asked?.type !== 'approval.requested') return { status: 'completed' }
  const { scope, detected } = asked.payload
  const message = (scope as { message?: unknown } | undefined)?.message
  return { status: 'completed', detected, ...(typeof message === 'string' && { message }) }
}
