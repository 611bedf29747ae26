import type { ReplyKind } from '../../contract/collaboration/replies.ts'
import { derivedSpan } from '../../contract/derived-ids.ts'
import { AppError, type ErrorCode } from '../../contract/errors.ts'
import { refusalOf } from '../../core/delegation/delegation-outcome.ts'
import { withGuidelines } from '../../core/delegation/prompt-parts.ts'
import type { ReplyResult } from '../../core/delegation/read-reply.ts'
import { type Flow, type FlowRoot, LimitReached, type StepGiven } from '../../ports/durable.ts'
import type { Work, WorkEnd } from '../../ports/workers.ts'
import type { CrewParts, Someone } from './crew-parts.ts'
import { type Handed, handOver } from './hand-over.ts'

/** A question to an agent, and how its answer is read. */
export type AgentWork<T> = {
  readonly name: string
  readonly who: Someone
  readonly prompt: string
  readonly read: (text: string) => ReplyResult<T>
  /** What kind of answer that is. */
  readonly answer: ReplyKind
  readonly folder: string
  readonly scope?: readonly string[]
  readonly timeoutMs: number
  readonly taskId?: string
  readonly about?: string
  /** The message that hands it over. */
  readonly messageId?: string
  /** Told when the agent has it. */
  readonly taken?: () => Promise<unknown>
}

/** What came of it: the end of the agent, and its answer where it gave one that can be used. */
export type Answered<T> = { readonly end: WorkEnd; readonly reply: T | undefined }

/** Has an agent do something; an answer that cannot be used is asked for once more, and who is not reached is tried again. */
export async function agentWork<T>(
  parts: Pick<CrewParts, 'workers'>,
  flow: Flow,
  { at, work }: { readonly at: FlowRoot; readonly work: AgentWork<T> },
): Promise<Answered<T>> {
  const { name, who, read, messageId } = work
  const { over } = parts.workers
  // Whichever try it is: it is taken once.
  let told: Promise<void> | undefined
  const end = await handOver(flow, { name, to: who.id, at, messageId, over }, (n, taken) => {
    const step = n === 0 ? name : `${name}-try${n + 1}`
    const tell = async () => {
      await taken()
      await work.taken?.()
    }
    return flow.step(step, async (given) => {
      const ended = await reached(parts, workFor(flow, { at, work, step }), {
        given,
        isTaken: () => told !== undefined,
        taken: () => (told ??= tell()),
      })
      if (ended.undelivered === undefined) given.count({ tokens: ended.tokens })
      return ended
    })
  })
  const said = read(end.text)
  return { end, reply: 'value' in said ? said.value : undefined }
}

type Unstarted = Omit<Work, 'isAgain' | 'taken'>

/** What an agent is given to do. */
function workFor<T>(
  flow: Flow,
  { at, work, step }: { readonly at: FlowRoot; readonly work: AgentWork<T>; readonly step: string },
): Unstarted {
  const { who, prompt, read, answer, folder, scope = [], timeoutMs, taskId, about } = work
  const { member, id } = who
  return {
    root: flow.root(),
    spanId: derivedSpan(`${flow.id} agent ${step}`),
    parentSpanId: at.spanId,
    agent: member.agent,
    name: id,
    cli: member.cli,
    model: member.model,
    prompt: withGuidelines(prompt, member.guidelines),
    workspace: folder,
    scope,
    timeoutMs,
    resultSchema: `reply:${answer}`,
    refuse: refusalOf(read),
    brief: (text) => {
      const said = read(text)
      return 'value' in said ? summaryOf(said.value) : undefined
    },
    ...(taskId !== undefined && { taskId }),
    ...(about !== undefined && { about }),
  }
}

type Reaching = {
  readonly given: StepGiven
  readonly isTaken: () => boolean
  readonly taken: () => Promise<void>
}

/** Refusals that pass: all others would be the same the next time. */
const passing: readonly ErrorCode[] = ['limited', 'unavailable', 'timeout', 'failed', 'internal']

/** Runs an agent; one that is refused before it has its work was not reached. */
async function reached(
  { workers }: Pick<CrewParts, 'workers'>,
  work: Unstarted,
  { given: { signal, isAgain }, isTaken, taken }: Reaching,
): Promise<Handed> {
  try {
    const { undelivered, ...end } = await workers.run({ ...work, isAgain, taken }, signal)
    // Who has it may have lost it since, and is not reached by giving it again.
    return undelivered === undefined || isTaken() ? end : { ...end, undelivered }
  } catch (error) {
    if (isTaken() || signal.aborted || !(error instanceof AppError) || error instanceof LimitReached)
      throw error
    return {
      status: 'failed',
      text: '',
      reason: error.message,
      undelivered: 'rejected',
      tokens: 0,
      durationMs: 0,
      ...(!passing.includes(error.code) && { isRefused: true }),
    }
  }
}

function summaryOf(reply: unknown): string | undefined {
  const { summary } = (reply ?? {}) as { summary?: unknown }
  return typeof summary === 'string' && summary !== '' ? summary : undefined
}
