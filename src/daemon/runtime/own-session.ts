import { AppError } from '../../contract/errors.ts'
import type { PayloadOf } from '../../contract/event.ts'
import type { SessionRow } from '../../contract/index-rows.ts'
import type { MessageView } from '../../contract/session-views.ts'
import { labelled } from '../../core/messages/message-text.ts'
import { hasEnded, type SessionState } from '../../core/session/state.ts'
import type { Engine } from '../../engine/engine.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { sessionRoot } from '../../runtime/session-root.ts'
import type { Workflows } from '../../workflow/workflows.ts'
import type { Reached } from '../sessions/checkpoints.ts'

type Deps = { readonly engine: Engine; readonly runtime: Runtime; readonly workflows: Workflows }

/** Whether a session is one of our own agents, or of a workflow: it has no terminal. */
export const isOwn = ({ origin }: SessionRow): boolean => origin === 'runtime' || origin === 'workflow'

/** A session of our own agents that is open. */
export function openOwn({ engine }: Pick<Deps, 'engine'>, row: SessionRow): Readonly<SessionState> {
  const state = engine.session(row.sessionId)
  if (!state || hasEnded(state)) throw ended(row)
  return state
}

/** Where a milestone of it goes; its agents work in its folder, as whoever asked for them does. */
export function ownReached(deps: Pick<Deps, 'engine'>, row: SessionRow, by: string): Omit<Reached, 'row'> {
  const root = sessionRoot(openOwn(deps, row), by)
  if (!root) throw ended(row)
  return { root, isIsolated: false, say: (drafts) => deps.engine.perform(drafts) }
}

/** There is no program to start again: it is open, or it is over. */
export function notResumed(row: SessionRow): AppError {
  if (row.endedMs !== null) return ended(row)
  return new AppError('conflict', `${row.shortId} is open; speak with it: sm chat --session ${row.shortId}`)
}

const ended = (row: SessionRow): AppError =>
  new AppError('conflict', `${row.name ?? row.shortId} has ended; begin another with: sm chat`)

/** Says something to it; when it waits on a question, that is the answer. Answers the id of the message, if it is one. */
export async function sendToOwn(
  deps: Deps,
  row: SessionRow,
  said: { readonly text: string; readonly mode: MessageView['mode']; readonly from: string },
): Promise<{ readonly messageId: string; readonly isAnswer: boolean }> {
  const state = openOwn(deps, row)
  const question = state.asks?.find(({ subject }) => subject === 'question')
  if (question && deps.runtime.questions.isHeld(question.approvalId)) {
    const decision = { verdict: 'allow', scope: 'once', answers: { '*': said.text } } as const
    await deps.runtime.decide(state, question, { decision, by: said.from })
    return { messageId: question.approvalId, isAnswer: true }
  }
  if (state.managed?.origin === 'workflow')
    throw new AppError(
      'conflict',
      'a workflow takes no messages; answer what it asks (sm approvals), or speak to one of its agents (sm children)',
    )
  return {
    messageId: await deps.runtime.say(state, { ...said, text: labelled(said.text, said.from) }),
    isAnswer: false,
  }
}

/** Changes what is known of it. */
export async function updateOwn(
  deps: Deps,
  row: SessionRow,
  { by, change }: { readonly by: string; readonly change: PayloadOf<'session.updated'> },
): Promise<void> {
  const root = sessionRoot(openOwn(deps, row), by)
  if (root) await deps.engine.perform([draftOf(root, 'session.updated', { ...change, by })])
}

/** Ends it, with the word for how. */
export async function endOwn(
  deps: Deps,
  row: SessionRow,
  end: {
    readonly status: 'completed' | 'error' | 'abandoned' | 'killed'
    readonly by: string
    readonly message?: string | undefined
    readonly reason?: string | undefined
  },
): Promise<void> {
  const { status, ...said } = end
  const state = openOwn(deps, row)
  if (state.managed?.origin === 'workflow')
    return deps.workflows.end(state, {
      outcome: status === 'killed' ? 'killed' : 'cancelled',
      by: end.by,
      reason: end.reason ?? end.message,
    })
  if (status !== 'error') return deps.runtime.end(state, { ...said, outcome: status })
  await deps.runtime.interrupt(row.sessionId, end.by)
  const root = sessionRoot(state, end.by)
  if (root)
    await deps.engine.perform([
      draftOf(root, 'session.failed', { ...(end.message && { message: end.message }), reason: 'said so' }),
    ])
}
