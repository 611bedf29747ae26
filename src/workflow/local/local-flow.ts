import type { Draft } from '../../contract/event.ts'
import type { SpanId } from '../../contract/ids.ts'
import { withSignal } from '../../contract/linked.ts'
import { sha256Hex } from '../../contract/sha256.ts'
import type { Clock } from '../../ports/clock.ts'
import {
  type Child,
  type Flow,
  type FlowPlace,
  type FlowRoot,
  LimitReached,
  type Procedure,
  type StepGiven,
  type StepOptions,
  waitStep,
} from '../../ports/durable.ts'
import type { Book, Outcome } from './book.ts'

/** A whole workflow that runs here; its branches share it. */
type RunningFlow = {
  readonly id: string
  readonly at: FlowPlace
  /** The span of the workflow itself. */
  readonly spanId: SpanId
  readonly book: Book
  readonly clock: Clock
  /** It was begun by an earlier daemon. */
  readonly isAgain: boolean
  readonly signal: AbortSignal
  /** What it does cannot be written any more: it does nothing further, and goes on another time. */
  readonly halt: (error: unknown) => void
}

/** A flow of the local runner: what its book knows is answered from there, all else is done and written down. */
export class LocalFlow implements Flow {
  readonly #run: RunningFlow
  /** Names of the children on the way here, with a slash after each. */
  readonly #path: string
  readonly #used = new Set<string>()
  readonly #branches: Promise<unknown>[] = []
  #phase: string
  #firsts = 0
  readonly #waits = new Map<string, { readonly waits: number; readonly heard: number }>()

  constructor(run: RunningFlow, path: string, phase: string) {
    this.#run = run
    this.#path = path
    this.#phase = phase
  }

  get id(): string {
    return `${this.#run.id}/${this.#path}`.slice(0, -1)
  }

  get signal(): AbortSignal {
    return this.#run.signal
  }

  root(): FlowRoot {
    const { at, spanId, id } = this.#run
    return { ...at, spanId, workflowId: id, phase: this.#phase }
  }

  setPhase(phase: string): void {
    this.#phase = phase
  }

  spent(): { readonly tokens: number; readonly agents: number } {
    return this.#run.book.counted
  }

  async step<T>(
    name: string,
    act: (given: StepGiven) => Promise<T>,
    { again }: StepOptions = {},
  ): Promise<T> {
    const step = this.#own(name)
    const { book } = this.#run
    const isAnew =
      again !== undefined &&
      book.isTaken(step) &&
      (again === true || !book.has(`${this.#path}${again.unless}`))
    return this.#perform(step, act, isAnew)
  }

  child<I, O>(name: string, procedure: Procedure<I, O>, input: I): Child<O> {
    const step = this.#own(name)
    const flow = new LocalFlow(this.#run, `${step}/`, this.#phase)
    const result = this.#perform(step, () => procedure.run(flow, input))
    // Whoever asks for it is told; who does not ask has nothing to catch.
    this.#branches.push(result.catch(() => {}).then(() => flow.quiet()))
    return { id: flow.id, result: () => result }
  }

  async waitFirst<T>(children: readonly Child<T>[]): Promise<Child<T>> {
    this.#firsts += 1
    const ended = children.map((child) =>
      child.result().then(
        () => child.id,
        () => child.id,
      ),
    )
    const id = await this.step(`first:${this.#firsts}`, ({ signal }) =>
      withSignal(Promise.race(ended), signal),
    )
    const child = children.find((one) => one.id === id)
    if (!child)
      throw new Error(`${this.id} waits for other branches than before; it is not the same procedure`)
    return child
  }

  async waitSignal(
    topic: string,
    { timeoutMs, as = topic }: { readonly timeoutMs?: number; readonly as?: string } = {},
  ): Promise<{ readonly value: unknown } | undefined> {
    const { waits, heard } = this.#waits.get(topic) ?? { waits: 0, heard: 0 }
    const name = waitStep(as, waits)
    const until =
      timeoutMs === undefined
        ? undefined
        : await this.#deadline(`${name}:until`, timeoutMs, { again: { unless: name } })
    const said = await this.step(name, async ({ signal }) => {
      const next = this.#run.book.heard(topic, heard, signal).then((value) => ({ value }))
      return until === undefined ? next : this.#orLate(next, until)
    })
    this.#waits.set(topic, { waits: waits + 1, heard: said ? heard + 1 : heard })
    return said
  }

  async sleep(name: string, ms: number): Promise<void> {
    const until = await this.#deadline(name, ms)
    const { clock, signal } = this.#run
    const leftMs = until - clock.now()
    if (leftMs > 0) await clock.sleep(leftMs, signal)
  }

  async quiet(): Promise<void> {
    await Promise.all(this.#branches)
  }

  /** When something is over, the same after a crash. */
  #deadline(name: string, ms: number, options?: StepOptions): Promise<number> {
    return this.step(name, async () => this.#run.clock.now() + ms, options)
  }

  async #orLate<T>(heard: Promise<T>, until: number): Promise<T | undefined> {
    const { clock, signal } = this.#run
    const over = new AbortController()
    const late = clock.sleep(Math.max(0, until - clock.now()), over.signal).then(
      () => undefined,
      () => new Promise<never>(() => {}),
    )
    try {
      return await withSignal(Promise.race([heard, late]), signal)
    } finally {
      over.abort()
    }
  }

  /** The path of something of this flow; its name finds it again, so there cannot be two. */
  #own(name: string): string {
    if (this.#used.has(name)) throw new Error(`${this.id} has two things of the name ${name}`)
    this.#used.add(name)
    return `${this.#path}${name}`
  }

  async #perform<T>(step: string, act: (given: StepGiven) => Promise<T>, isAnew = false): Promise<T> {
    const { book, signal } = this.#run
    const known = await book.outcome(step)
    if (known && !isAnew) return valueOf(known) as T
    signal.throwIfAborted()
    const facts: Draft[] = []
    const counted = { agents: 0, tokens: 0 }
    const given: StepGiven = {
      signal,
      isAgain: this.#run.isAgain,
      gave: known && 'value' in known ? known.value : undefined,
      tell: (...more) => void facts.push(...more),
      count: ({ tokens, isFurther = false }) => {
        if (!isFurther) counted.agents += 1
        counted.tokens += tokens
      },
    }
    const outcome = await settled(act(given))
    // What was stopped has not failed: it is done again when the workflow goes on.
    signal.throwIfAborted()
    if ('error' in outcome && outcome.error instanceof LimitReached) throw outcome.error
    await book
      .keep(this.root(), step, { outcome, facts: 'error' in outcome ? [] : facts, counted })
      .catch((error: unknown) => this.#run.halt(error))
    signal.throwIfAborted()
    return valueOf(outcome) as T
  }
}

async function settled(act: Promise<unknown>): Promise<Outcome> {
  try {
    return { value: await act }
  } catch (error) {
    return { error }
  }
}

function valueOf(outcome: Outcome): unknown {
  if ('error' in outcome) throw outcome.error
  return outcome.value
}

/** A workflow that runs in this process. */
export type Running = RunningFlow & {
  readonly name: string
  readonly version: string
  readonly input: unknown
  readonly digest: string
  readonly startedMs: number
  readonly controller: AbortController
  result: Promise<unknown>
  /** Resolves when it does nothing any more; one that was stopped may still put things away after its end. */
  left: Promise<void>
  /** Resolves when its end is written, or it was left for the next daemon. */
  ended: Promise<void>
}

/** The phase of what belongs to none. */
export const firstPhase = 'begin'

/** Where the facts of a whole workflow belong. */
export const rootOf = ({ at, spanId, id }: Running, phase = firstPhase): FlowRoot => ({
  ...at,
  spanId,
  workflowId: id,
  phase,
})

/** What an input is compared by. */
export const digestOf = (input: unknown): string => sha256Hex(JSON.stringify(input) ?? '')
