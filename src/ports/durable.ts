import { AppError } from '../contract/errors.ts'
import type { By, Draft, PayloadOf } from '../contract/event.ts'
import type { RunId, SessionId, SpanId, TraceId } from '../contract/ids.ts'
import type { Asker } from '../contract/principal.ts'
import type { WorkflowFailure, WorkflowOutcome } from '../contract/values.ts'

/** Where the facts of a workflow belong: its session and trace, and the span that they hang under. */
export type FlowPlace = {
  readonly sessionId: SessionId
  readonly traceId: TraceId
  readonly runId: RunId
  readonly spanId: SpanId
  readonly actor: string
}

/** The place of a flow that runs: on its own span, with what every fact of a workflow carries. */
export type FlowRoot = FlowPlace & { readonly workflowId: string; readonly phase: string }

/** Something that goes on after a crash. All that it does it does through its flow, so that nothing is done twice. */
export type Procedure<I, O> = {
  readonly name: string
  /** Another one when a run that began before could not go on with it. */
  readonly version: string
  readonly run: (flow: Flow, input: I) => Promise<O>
  /** Why what it gave is not what was asked for; the run has then failed or was rejected, and keeps its result. */
  readonly failure?: (result: O) => FlowFailure | undefined
  /** Why a run of it cannot be forked, and what to do instead. */
  readonly unforkable?: string
  readonly leftovers?: Leftovers<I>
  readonly closing?: Closing<I>
}

export type FlowFailure = { readonly outcome: WorkflowFailure; readonly reason: string }

/**
 * What a run still has to say when it fails or is called off: `write` takes the facts, and writes them together with
 * its end or not at all. It is asked also of a run that stands still or began under another version.
 */
export type Closing<I> = (
  run: { readonly root: FlowRoot; readonly input: I },
  reason: string,
  write: (facts: readonly Draft[]) => Promise<void>,
) => Promise<void>

/** What runs that were called off may have left in the world outside. */
export type Leftovers<I> = {
  /** The ids of runs of which something is there, also of those that need it. */
  readonly ids: () => Promise<readonly string[]>
  /** Puts it away; it may be done again. */
  readonly putAway: (id: string, input: I) => Promise<void>
}

/** Why a workflow was stopped from outside; for the daemon it is left open and goes on later. */
export class FlowStopped extends Error {
  override readonly name = 'FlowStopped'
  readonly how: 'cancelled' | 'daemon'
  readonly by: Asker

  constructor(how: 'cancelled' | 'daemon', by: Asker, reason: string) {
    super(reason)
    this.how = how
    this.by = by
  }
}

/** A limit of a whole workflow was reached: it is over, nothing in it may catch this, and what was stopped by it has no outcome. */
export class LimitReached extends AppError {
  /** What is to be told of it, when nobody has yet. */
  readonly exceeded: PayloadOf<'budget.exceeded'> | undefined

  constructor(why: string, exceeded?: PayloadOf<'budget.exceeded'>) {
    super('limited', `${why} and was stopped`)
    this.exceeded = exceeded
  }
}

/** What is run again is not what was begun: nothing in it may catch this, and nothing more is written. */
export class NotTheSame extends AppError {
  constructor(why: string) {
    super('conflict', why)
  }
}

/** A person said no to what a workflow was going to do: it is rejected, and nothing in it went wrong. */
export class NotApproved extends AppError {
  constructor(what: string, reason: string | undefined) {
    super('denied', `${what} was not approved${reason ? `: ${reason}` : ''}`)
  }
}

/** What a step is given. */
export type StepGiven = {
  readonly signal: AbortSignal
  /** The workflow goes on after a crash: this may have been begun before. */
  readonly isAgain: boolean
  /** What it gave in the run that this one is a fork of, when it is done again here. */
  readonly gave: unknown
  /** Facts that are written together with the end of the step, or not at all. */
  readonly tell: (...facts: readonly Draft[]) => void
  /**
   * Counts an agent that worked for the step, for the sums at the end; it is counted once however often it is run again.
   * Of one that was counted before only its tokens count.
   */
  readonly count: (agent: { readonly tokens: number; readonly isFurther?: boolean }) => void
}

/** How a step stands beside others. */
export type StepOptions = {
  /** What it tells is true of one run only: a fork does it again, always or unless it has taken along this other step. */
  readonly again?: true | { readonly unless: string }
}

/** The step in which the n-th wait of a name hears something. */
export const waitStep = (name: string, n = 0): string => `signal:${name}:${n}`

/** A procedure under way. Names are unique within a flow; they find what was done when it is run again. */
export type Flow = {
  /** The workflow's id, and below it the names of the children on the way to this one. */
  readonly id: string
  readonly signal: AbortSignal
  root(): FlowRoot
  /** Said of every fact from here on, and in children that begin from here on. */
  setPhase(phase: string): void
  /** Does something whose result is kept. It may be done again when the end of it was not written: it must bear that. */
  step<T>(name: string, act: (given: StepGiven) => Promise<T>, options?: StepOptions): Promise<T>
  /** A branch of its own, beside all others; it has begun when this returns. */
  child<I, O>(name: string, procedure: Procedure<I, O>, input: I): Child<O>
  /** The first of them to end, and the same one when it is asked again after a crash. */
  waitFirst<T>(children: readonly Child<T>[]): Promise<Child<T>>
  /** What was told under this topic, each once; nothing when the time is over. */
  waitSignal(
    topic: string,
    options?: {
      readonly timeoutMs?: number
      /** What the wait is called among the steps, where the topic would be another one in a fork. */
      readonly as?: string
    },
  ): Promise<{ readonly value: unknown } | undefined>
  sleep(name: string, ms: number): Promise<void>
  /** Resolves when no branch that was begun from here is under way any more, however each ended. */
  quiet(): Promise<void>
  /** The agents that were counted in the whole workflow so far, and what they used. */
  spent(): { readonly tokens: number; readonly agents: number }
}

/** Where work belongs: in a workflow, or in the session of the agent that gives it. */
export type WorkRoot = FlowPlace & { readonly workflowId?: string; readonly phase?: string }

/** What keeps the steps of a piece of work: a flow, or the journal itself where nothing is done again after a crash. */
export type Steps = Pick<Flow, 'id' | 'signal' | 'step' | 'sleep'> & { root(): WorkRoot }

/** A branch that has begun. */
export type Child<O> = { readonly id: string; result(): Promise<O> }

/** How a workflow stands; `pending`: it was begun under a version that is not there, and can be forked. */
export type FlowStatus = 'running' | 'pending' | WorkflowOutcome

/** One workflow in a list. */
export type FlowView = {
  readonly id: string
  readonly name: string
  readonly version: string
  readonly status: FlowStatus
  readonly sessionId: SessionId
}

/** What came of a word to a workflow. */
export type Reached = 'delivered' | 'unknown' | 'finished'

/** What a fork does differently. */
export type ForkWish = {
  /** From this step on all is done again. */
  readonly before?: string
  /** Makes its input of the one that the other began with. */
  readonly input?: (known: unknown) => unknown
}

/** Runs procedures durably. */
export type Durable = {
  /** Begins a workflow; the same id with the same input is known, with another it is refused. */
  start(
    name: string,
    given: {
      readonly id: string
      readonly input: unknown
      readonly at: FlowPlace
      /** Who asked for it; the daemon itself when left out. */
      readonly by?: By
    },
  ): Promise<'started' | 'known'>
  /** What it gave in the end, once it has; throws what it failed with. */
  result(id: string): Promise<unknown>
  /** Tells it something, together with facts that say why; once this resolves it is not lost. */
  signal(
    id: string,
    said: { readonly topic: string; readonly value: unknown; readonly facts?: readonly Draft[] },
  ): Promise<Reached>
  /** Ends it and all its branches; its end is written also when a branch does not obey. */
  cancel(id: string, why: { readonly by: Asker; readonly reason: string }): Promise<Reached>
  /**
   * Begins another workflow with what this one had done before a step, or with all that it has done; what is true of
   * one run only is done again.
   */
  fork(
    id: string,
    given: { readonly as: string; readonly at: FlowPlace; readonly by?: By } & ForkWish,
  ): Promise<void>
  list(): Promise<readonly FlowView[]>
}
