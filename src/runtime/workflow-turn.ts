import type { RunId, SpanId } from '../contract/ids.ts'
import type { SessionState } from '../core/session/state.ts'
import type { ModelMessage } from '../ports/model.ts'
import type { Work } from '../ports/workers.ts'
import { wordsOf } from './agent-run.ts'
import { loadHistory } from './history.ts'
import type { CallUse } from './live-run.ts'
import type { RuntimeParts } from './runtime-parts.ts'

/** A turn in the run of a workflow's own agent: what was said before it, and what of it was done before a crash. */
type WorkflowTurn = {
  /** The whole conversation, with the prompt of the turn; it grows. */
  readonly messages: ModelMessage[]
  readonly kept: number
  /** The agent had turns before. */
  readonly isFurther: boolean
  readonly before: TurnBefore | undefined
}

/** What was done of a turn before it was cut off. */
type TurnBefore = {
  readonly calls: readonly CallUse[]
  /** The answer that it came to; its agent is not asked again. */
  readonly answer: string | undefined
  /** Its first answer was refused: the next one counts. */
  readonly isRefused: boolean
}

/**
 * The conversation of a workflow's own agent, up to and with a prompt. After a crash a turn that has its answer is
 * answered by it, and one that has only its prompt goes on from there.
 */
export async function workflowTurn(
  parts: Pick<RuntimeParts, 'events' | 'vault'>,
  work: Work,
): Promise<WorkflowTurn> {
  const { sessionId, runId } = work.root
  const { messages, kept } = await loadHistory(parts, { sessionId, runId })
  // A prompt that no model has answered is in no history; nothing came of it.
  const at = work.isAgain
    ? messages.findLastIndex((said) => said.role === 'user' && said.text === work.prompt)
    : -1
  if (at < 0) {
    const isFurther = messages.length > 0
    messages.push({ role: 'user', text: work.prompt })
    return { messages, kept, isFurther, before: undefined }
  }
  const answers = messages.slice(at + 1).flatMap((said) => {
    const isAnswer = said.role === 'assistant' && said.parts.every(({ kind }) => kind !== 'call')
    return isAnswer ? [wordsOf(said)] : []
  })
  const last = messages.at(-1)
  const isAnswered = last?.role === 'assistant' && last.parts.every(({ kind }) => kind !== 'call')
  const wrong = isAnswered && answers.length === 1 ? work.refuse?.(answers[0] ?? '') : undefined
  if (wrong !== undefined) messages.push({ role: 'user', text: wrong })
  const answer = isAnswered && wrong === undefined ? answers.at(-1) : undefined
  const calls = await callsSince(parts, work)
  return {
    messages,
    kept,
    isFurther: at > 0,
    before: { calls, answer, isRefused: answers.length > 0 },
  }
}

/** The names of the messages that a turn begins and ends with. */
export const questionOf = (runId: RunId, turn: SpanId): string => `${runId}:question:${turn}`
export const answerOf = (runId: RunId, turn: SpanId): string => `${runId}:answer:${turn}`

/** The answers of models since the turn began. */
async function callsSince({ events }: Pick<RuntimeParts, 'events'>, work: Work): Promise<CallUse[]> {
  const { sessionId, runId } = work.root
  const calls: CallUse[] = []
  let isBegun = false
  for await (const event of events(sessionId, ['agent.message.created', 'llm.request.completed'])) {
    if (event.type === 'agent.message.created')
      isBegun ||= event.payload.messageId === questionOf(runId, work.spanId)
    else if (isBegun && event.type === 'llm.request.completed' && event.runId === runId)
      calls.push(event.payload)
  }
  return calls
}

/** What a turn that was cut off has left open: the calls of its run, and what it asked people below its place. */
export const leftOpen = (
  state: Readonly<SessionState>,
  { runId, place }: { readonly runId: RunId; readonly place: SpanId },
) =>
  [...state.open.values()].filter(
    (span) =>
      span.runId === runId &&
      (span.kind === 'tool' ||
        span.kind === 'llm' ||
        (span.kind === 'approval' && span.parentSpanId === place)),
  )
