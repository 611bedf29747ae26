import { derivedSpan } from '../../contract/derived-ids.ts'
import { AppError, type ErrorCode } from '../../contract/errors.ts'
import type { SpanId } from '../../contract/ids.ts'
import { refusalOf } from '../../core/delegation/delegation-outcome.ts'
import { withGuidelines } from '../../core/delegation/prompt-parts.ts'
import type { ReplyResult } from '../../core/delegation/read-reply.ts'
import {
  LimitReached,
  type StepGiven,
  type StepOptions,
  type Steps,
  type WorkRoot,
} from '../../ports/durable.ts'
import type { Work, WorkEnd, Workers } from '../../ports/workers.ts'
import { type DeliveryTry, deliverWork } from './deliver-work.ts'

/** Somebody who is given work: a role, under the name that messages and files know it by. */
export type Worker = {
  readonly agentId: string
  readonly role: string
  /** The agent definition, and what runs it: `own` is a built-in agent. */
  readonly agent: string
  readonly cli: string
  readonly model?: string | undefined
  readonly guidelines?: readonly string[]
}

/** A question to an agent, and how its answer is read. */
export type Question<T> = {
  readonly name: string
  readonly who: Worker
  readonly prompt: string
  readonly read: (text: string) => ReplyResult<T>
  /** How the form of the answer is shown to whoever missed it. */
  readonly form?: string | undefined
  /** What its last words are held to, in a word. */
  readonly resultSchema: string
  readonly folder: string
  readonly scopes?: readonly (readonly string[])[]
  readonly tools?: readonly string[] | undefined
  readonly timeoutMs: number
  readonly taskId?: string
  readonly about?: string
  /** The message that hands it over. */
  readonly messageId?: string | undefined
  /** Told when the agent has it. */
  readonly taken?: () => Promise<unknown>
  readonly changed?: Work['changed']
  readonly isTurn?: boolean
  readonly options?: StepOptions | undefined
}

/** What came of it: the end of the agent, and its answer where it gave one that can be used. */
export type Answered<T> = {
  readonly end: WorkEnd
  readonly reply: T | undefined
  /** Why its words give none. */
  readonly problems: readonly string[]
}

/** Has an agent do something; an answer that cannot be used is asked for once more, and who is not reached is tried again. */
export async function askAgent<T>(
  { workers }: { readonly workers: Workers },
  steps: Steps,
  { at, question }: { readonly at: WorkRoot & { readonly spanId: SpanId }; readonly question: Question<T> },
): Promise<Answered<T>> {
  const { name, who, read, messageId, options } = question
  const { over } = workers
  // Whichever try it is: it is taken once.
  let told: Promise<void> | undefined
  const delivery = { name, to: who.agentId, at, messageId, over, options }
  const end = await deliverWork(steps, delivery, (n, taken) => {
    const step = n === 0 ? name : `${name}-try${n + 1}`
    const tell = async () => {
      await taken()
      await question.taken?.()
    }
    return steps.step(step, async (given) => {
      const ended = await reached(workers, workFor(steps, { at, question, step }), {
        given,
        isTaken: () => told !== undefined,
        taken: () => (told ??= tell()),
      })
      if (ended.undelivered === undefined) given.count(ended)
      return ended
    })
  })
  const said = read(end.text)
  return 'value' in said
    ? { end, reply: said.value, problems: [] }
    : { end, reply: undefined, problems: said.problems }
}

type Unstarted = Omit<Work, 'isAgain' | 'taken'>

/** What an agent is given to do. */
function workFor<T>(
  steps: Steps,
  { at, question, step }: { readonly at: WorkRoot; readonly question: Question<T>; readonly step: string },
): Unstarted {
  const { who, prompt, read, form, resultSchema, folder, scopes = [], tools, timeoutMs } = question
  const { taskId, about, changed, isTurn } = question
  const { agentId, agent, cli, model, guidelines = [] } = who
  const refuse = refusalOf(read)
  return {
    root: steps.root(),
    spanId: derivedSpan(`${steps.id} agent ${step}`),
    parentSpanId: at.spanId,
    agent,
    name: agentId,
    cli,
    model,
    prompt: withGuidelines(prompt, guidelines),
    workspace: folder,
    scopes,
    tools,
    timeoutMs,
    resultSchema,
    refuse: (text) => {
      const wrong = refuse(text)
      return wrong === undefined || form === undefined ? wrong : `${wrong}\n\n${form}`
    },
    brief: (text) => {
      const said = read(text)
      return 'value' in said ? summaryOf(said.value) : undefined
    },
    ...(taskId !== undefined && { taskId }),
    ...(about !== undefined && { about }),
    ...(changed && { changed }),
    ...(isTurn && { isTurn }),
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
  workers: Workers,
  work: Unstarted,
  { given: { signal, isAgain }, isTaken, taken }: Reaching,
): Promise<DeliveryTry> {
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
