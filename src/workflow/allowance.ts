import { linked } from '../contract/linked.ts'
import { amountOf, type Budgets, type Over } from '../engine/budgets.ts'
import { draftOf } from '../engine/sessions/drafts.ts'
import type { Checks } from '../ports/checks.ts'
import { type Flow, LimitReached } from '../ports/durable.ts'
import type { Work, WorkEnd, Workers } from '../ports/workers.ts'

type AllowanceDeps = { readonly workers: Workers; readonly budgets: Pick<Budgets, 'over' | 'watch'> }

/**
 * Those who work for a run as long as it is within its limits. Once one is reached nobody begins, whoever is at work is
 * stopped, and the run is over; what was done by then is kept.
 */
export class Allowance implements Workers, Disposable {
  readonly #deps: AllowanceDeps
  readonly #flow: Flow
  readonly #over = new AbortController()
  readonly #watch: Disposable
  readonly #stopped: WorkEnd[] = []

  constructor(deps: AllowanceDeps, flow: Flow) {
    this.#deps = deps
    this.#flow = flow
    this.#watch = deps.budgets.watch(flow.root().sessionId, (over) => this.#spent(over))
  }

  [Symbol.dispose](): void {
    this.#watch[Symbol.dispose]()
  }

  /** Aborted with the limit that was reached. */
  get over(): AbortSignal {
    return this.#over.signal
  }

  /** Ends the run: a limit was reached that is counted elsewhere. */
  reached(why: LimitReached): void {
    if (!this.over.aborted) this.#over.abort(why)
  }

  /** Ends the run: it has failed, and whoever is still at work works for nothing. */
  readonly failed = (why: unknown): void =>
    this.reached(why instanceof LimitReached ? why : new LimitReached('the run has failed'))

  /** Whether anybody may still begin. */
  readonly isWithinLimits = async (): Promise<boolean> =>
    !this.over.aborted && (await this.#deps.budgets.over(this.#flow.root().sessionId)) === undefined

  /** Ends the run: it took too long. */
  late(minutes: number): void {
    const exceeded = { budget: 'time', used: minutes, limit: minutes, action: 'stopped' } as const
    this.reached(new LimitReached(`it took longer than ${minutes} min`, exceeded))
  }

  async run(work: Work, signal: AbortSignal): Promise<WorkEnd> {
    const before = await this.#limit()
    if (before) throw before
    const end = await this.#untilOver((until) => this.#deps.workers.run(work, until), signal).catch(
      async (error: unknown) => {
        // What a stopped agent says of its end is not why it ended.
        throw (await this.#limit()) ?? error
      },
    )
    if (end.status === 'completed') return end
    // It may have been the first to find that there is nothing left.
    const limit = await this.#limit()
    if (!limit) return end
    this.#stopped.push(end)
    throw limit
  }

  /** The same for commands: one that runs when a limit is reached has shown nothing. */
  checks(checks: Checks): Checks {
    return {
      run: async (command, where, signal) => {
        this.over.throwIfAborted()
        return await this.#untilOver((until) => checks.run(command, where, until), signal)
      },
    }
  }

  /** Writes that the run is over, and what those who were stopped have used. */
  async close({ exceeded }: LimitReached): Promise<void> {
    const root = this.#flow.root()
    // Under a name of its own: a fork begins with all steps of this run, and has limits too.
    await this.#flow.step(`limit of ${root.workflowId}`, async ({ tell, count }) => {
      for (const { tokens } of this.#stopped) count({ tokens })
      if (exceeded) tell(draftOf(root, 'budget.exceeded', exceeded))
    })
  }

  async #untilOver<T>(act: (until: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    using working = linked(signal)
    const stop = () => working.abort(this.over.reason)
    this.over.addEventListener('abort', stop, { once: true, signal: working.signal })
    return await act(working.signal)
  }

  /** The limit that was reached, if one was. */
  async #limit(): Promise<LimitReached | undefined> {
    if (!this.over.aborted) {
      const over = await this.#deps.budgets.over(this.#flow.root().sessionId)
      if (over) this.#spent(over)
    }
    return this.over.reason as LimitReached | undefined
  }

  #spent({ name, sessionId, use }: Over): void {
    const isOwn = sessionId === this.#flow.root().sessionId
    this.reached(
      new LimitReached(
        isOwn ? `it used ${amountOf(use)}` : `${name}, above it, used ${amountOf(use)}, so it was stopped`,
      ),
    )
  }
}
