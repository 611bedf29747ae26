import { AppError } from '../../contract/errors.ts'
import type { SessionRow } from '../../contract/index-rows.ts'
import type { Asker } from '../../contract/principal.ts'
import { anyQuestion } from '../../contract/question-answers.ts'
import type { ExplanationView, SessionView } from '../../contract/session-views.ts'
import { labelled } from '../../core/messages/message-text.ts'
import { agentName } from '../../core/session/agent-view.ts'
import { hasEnded, type SessionState } from '../../core/session/state.ts'
import type { Engine } from '../../engine/engine.ts'
import { askedBy, draftOf, type Root, sessionRoot } from '../../engine/sessions/drafts.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { viewOfAgent } from '../agents.ts'
import type { Directory } from '../directory.ts'
import { linesOf, recordedTranscript } from '../transcripts.ts'
import { type SessionKind, titleOf } from './session-kind.ts'

export type BuiltInDeps = {
  readonly engine: Engine
  readonly directory: Directory
  readonly runtime: Runtime
  readonly clock: Clock
}

/** A conversation with built-in agents; it runs inside the daemon and has no terminal. */
export function builtInSession(deps: BuiltInDeps): SessionKind {
  const { engine, directory, runtime, clock } = deps
  return {
    checkParent() {},
    async update(row, change, by) {
      const root = rootOf(engine, row, by)
      await engine.perform([draftOf(root, 'session.updated', change)])
    },
    async writer(row, by) {
      const root = rootOf(engine, row, by)
      return { root, isIsolated: false, say: (drafts) => engine.perform(drafts) }
    },
    async complete(row, { status, by, message }) {
      const state = openSession(engine, row)
      if (status !== 'error') return runtime.end(state, { outcome: status, by, message })
      await runtime.interrupt(row.sessionId, by)
      const failed = { ...(message && { message }), reason: 'said so' }
      await engine.perform([draftOf(rootOf(engine, row, by), 'session.failed', failed)])
    },
    async send(row, message) {
      const state = openSession(engine, row)
      const answered = await answerQuestion(runtime, state, message)
      if (answered !== undefined) return { messageId: answered, isAnswer: true }
      const { name: from, by } = message.from
      const text = labelled(message.text, from)
      return {
        messageId: await runtime.session(state.sessionId).say(state, { ...message, text, from, by }),
        isAnswer: false,
      }
    },
    async interrupt(row, by) {
      const { sessionId } = openSession(engine, row)
      if (!runtime.runs().some(({ root }) => root.sessionId === sessionId))
        throw new AppError(
          'conflict',
          `${titleOf(row)} is not working on anything, so there is nothing to interrupt`,
        )
      await runtime.interrupt(sessionId, by)
    },
    async kill(row, { by, reason }) {
      await runtime.end(openSession(engine, row), { outcome: 'killed', by, reason })
      return { killed: [await directory.view(await directory.find(row.sessionId))], left: [], suspects: [] }
    },
    async killAgent(agent, { by, reason = 'killed' }) {
      const { sessionId, runId } = agent.run
      const ended = await runtime.kill(runId, by, reason)
      await directory.caughtUp()
      const { shortId, ending } = agent.run
      if (ended.length === 0)
        throw new AppError(
          'conflict',
          `${agentName(agent.run, agent.row)} (${shortId}) ${ending === null ? 'does not run here' : `has ended (${ending})`}; there is nothing to end`,
        )
      const runs = await Promise.all(
        ended.map((id) => directory.ask('runs', { sessionId, runId: id, limit: 1 })),
      )
      const views = runs.flat().map((run) => viewOfAgent(directory, { row: agent.row, run }))
      return { killed: await Promise.all(views), left: [], suspects: [] }
    },
    async resume(row) {
      throw row.endedMs === null
        ? new AppError(
            'conflict',
            `${row.shortId} is open; talk to it with: sm chat --session ${row.shortId}`,
          )
        : ended(row)
    },
    async adopt(row) {
      throw new AppError(
        'conflict',
        `${titleOf(row)} is a built-in agent and stays where it was started; only a program in a terminal can be adopted`,
      )
    },
    explain: async (row) => explainRuns(await directory.view(row), { runtime, clock }),
    async output(row, lines) {
      const { entries } = await recordedTranscript(directory, { sessionId: row.sessionId }, lines)
      return { lines: linesOf(entries, lines), is_alive: row.endedMs === null }
    },
    transcript: (row, limit) => recordedTranscript(directory, { sessionId: row.sessionId }, limit),
    async attach(row) {
      throw new AppError(
        'conflict',
        `${row.shortId} is a built-in agent and has no terminal; talk to it with: sm chat --session ${row.shortId}`,
      )
    },
    async reread() {},
    decide: (state, ask, decided) => runtime.decide(state, ask, decided),
  }
}

/** A session inside the daemon that is still open. */
export function openSession(engine: Engine, row: SessionRow): Readonly<SessionState> {
  const state = engine.session(row.sessionId)
  if (!state || hasEnded(state)) throw ended(row)
  return state
}

function rootOf(engine: Engine, row: SessionRow, by: Asker): Root {
  const root = sessionRoot(openSession(engine, row), by.name)
  if (!root) throw ended(row)
  return askedBy(root, by)
}

const ended = ({ name, shortId, origin }: SessionRow): AppError => {
  const cure = origin === 'workflow' ? 'sm workflow list shows it' : 'start another with: sm chat'
  return new AppError('conflict', `${name ?? shortId} has ended; ${cure}`)
}

/** Takes words as the answer to the question that the session waits on; answers the approval, if there was one. */
export async function answerQuestion(
  runtime: Runtime,
  state: Readonly<SessionState>,
  { text, from }: { readonly text: string; readonly from: Asker },
): Promise<string | undefined> {
  const question = state.asks?.find(({ subject }) => subject === 'question')
  if (!question || !runtime.questions.isHeld(question.approvalId)) return undefined
  const decision = { verdict: 'allow', scope: 'once', answers: { [anyQuestion]: text } } as const
  await runtime.decide(state, question, { decision, by: from })
  return question.approvalId
}

/** Nothing of its state is guessed: its runs say it. */
function explainRuns(
  session: SessionView,
  { runtime, clock }: { readonly runtime: Runtime; readonly clock: Clock },
): ExplanationView {
  const runs = runtime.runs().filter(({ root }) => root.sessionId === session.id)
  return {
    session_id: session.session_id,
    name: session.friendly_name ?? session.name,
    status: session.status,
    activity: session.activity,
    health: session.health,
    waiting_for: session.waiting_for,
    expires_in_ms: null,
    signals: runs.map(({ agent, parent, startedMs, runId }) => ({
      signal: 'run',
      source: 'runtime',
      age_ms: Math.max(0, clock.now() - startedMs),
      weight: 1,
      says: `${agent.name}${parent ? ` works for ${parent.agent.name}` : ' works'} (${runId})`,
      counted: true,
    })),
    would_change: whatWouldChange(session),
  }
}

function whatWouldChange({ status, session_id }: SessionView): string[] {
  if (status === 'failed')
    return ['a message would make it running again; sm complete or sm kill would end it']
  if (status === 'idle') return ['a message would make it running; sm complete or sm kill would end it']
  if (status === 'waiting_input') return [`a decision would let it continue: sm approve ${session_id}`]
  return status === 'running' ? ['the end of its runs would make it idle'] : []
}
