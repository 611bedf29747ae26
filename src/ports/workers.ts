import type { PayloadOf } from '../contract/event.ts'
import type { SpanId } from '../contract/ids.ts'
import type { WorkRoot } from './durable.ts'
import type { FileChange } from './tools.ts'

/** A piece of work for one agent, asked for by a workflow or by another agent. */
export type Work = {
  /** Where its facts belong; its own span is `spanId`, by which it is found again after a crash. */
  readonly root: WorkRoot
  readonly spanId: SpanId
  readonly parentSpanId: SpanId
  readonly taskId?: string
  /** A definition's name: the role with its tools and its prompt. */
  readonly agent: string
  /** What people call this one, where several play the same role. */
  readonly name: string
  /** What it is about, in a few words for people. */
  readonly about?: string
  /** `own` is a built-in agent, anything else a program in a terminal. */
  readonly cli: string
  readonly model?: string | undefined
  readonly prompt: string
  /** The folder that it works in, a full path. */
  readonly workspace: string
  /** Lists of globs: what it changes has to be in each of them; none means all of the folder that its role may. */
  readonly scopes: readonly (readonly string[])[]
  /** What it may use of the tools of its role; all of them when left out. */
  readonly tools?: readonly string[] | undefined
  /** Its time; while it waits for a person it does not run. */
  readonly timeoutMs: number
  /** What its last words are held to, in a word. */
  readonly resultSchema: string
  /** Why its last words cannot be taken; it is told once and answers again. */
  readonly refuse?: (text: string) => string | undefined
  /** Its last words in a sentence, for people; nothing where they cannot be read. */
  readonly brief?: (text: string) => string | undefined
  /** Told of the files that it has changed so far, as it changes them. */
  readonly changed?: (paths: readonly string[]) => void
  /** Told once its agent has it; again after a crash. */
  readonly taken?: () => Promise<unknown>
  /** It is a turn in the run that `root` names, with all that was said in it before, and no run of its own. */
  readonly isTurn?: boolean
  /** It may have been begun before a crash. */
  readonly isAgain: boolean
}

/** Why a piece of work did not reach its agent. */
export type Undelivered = PayloadOf<'message.failed'>['errorType']

/** How a piece of work ended; whatever it was, the agent has ended too. */
export type WorkEnd = {
  readonly status: 'completed' | 'failed' | 'timeout'
  /** Its last words; of one that did not complete, what it said so far. */
  readonly text: string
  readonly reason?: string | undefined
  /** Muster stopped it because a limit of what it may use was reached. */
  readonly isSpent?: boolean
  /** Nobody had it, so that it can be given again. */
  readonly undelivered?: Undelivered
  readonly tokens: number
  /** It was not the first turn of its agent. */
  readonly isFurther?: boolean
  readonly durationMs: number
  /** What its calls did, where they were all seen. */
  readonly seen?: SeenCalls
}

/** What the calls of an agent did, by their results and not by its words. */
export type SeenCalls = {
  readonly changes: readonly FileChange[]
  /** Commands that it ran to their end, oldest first. */
  readonly commands: readonly { readonly command: string; readonly exitCode: number }[]
}

/** Those who do the work that others give. */
export type Workers = {
  /** Aborted with the reason once nobody may work any more. */
  readonly over?: AbortSignal
  /** Runs an agent to its end. What was begun before a crash under the same span is taken up, not begun again. */
  run(work: Work, signal: AbortSignal): Promise<WorkEnd>
}
