import type { SessionId } from '../../contract/ids.ts'
import { firstOverBudget, openChildren } from '../../core/session/session-tree.ts'
import { hasEnded } from '../../core/session/state.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Parts } from './session-parts.ts'
import type { SessionWatch } from './session-watch.ts'
import type { TranscriptFollower } from './transcript.ts'

const pollEveryMs = 2000

type Polled = {
  readonly watch: SessionWatch
  readonly transcript: Pick<TranscriptFollower, 'refresh' | 'settled'>
}

type PollingDeps<T extends Polled> = {
  readonly parts: Pick<Parts, 'clock' | 'config' | 'onBug'> & {
    readonly engine: Pick<Parts['engine'], 'session' | 'sessions'>
  }
  readonly live: ReadonlyMap<SessionId, T>
  readonly lifecycle: Pick<Lifecycle, 'tick'>
  readonly look: (watch: SessionWatch) => Promise<void>
  readonly interrupt: (live: T) => Promise<unknown>
  readonly undoTraps: (watch: SessionWatch) => Promise<void>
  /** Remembers what all of them have started. */
  readonly remember: (signal: AbortSignal) => Promise<void>
}

/** What keeps failing in the polling of one session, as the doctor shows it. */
export type PollFault = { readonly sessionId: SessionId; readonly step: string; readonly error: string }

/**
 * Looks at the terminals of which nothing else tells enough. A fault in one session is shown for as long as it lasts;
 * it neither ends the polling of that session nor delays that of the others.
 */
export class Polling<T extends Polled> {
  readonly #deps: PollingDeps<T>
  readonly #faults = new Map<SessionId, Map<string, string>>()
  /** Those whose turn is being ended for a used-up budget. */
  readonly #stopping = new Set<SessionId>()

  constructor(deps: PollingDeps<T>) {
    this.#deps = deps
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, onBug } = this.#deps.parts
    while (!signal.aborted) {
      await clock.sleep(pollEveryMs, signal).catch(() => {})
      await this.#round(signal).catch((error: unknown) => {
        if (!signal.aborted) onBug(error, 'polling sessions')
      })
    }
  }

  /** What failed at the last look at each session that is still followed. */
  faults(): readonly PollFault[] {
    return Array.from(this.#faults, ([sessionId, steps]) =>
      Array.from(steps, ([step, error]) => ({ sessionId, step, error })),
    ).flat()
  }

  async #round(signal: AbortSignal): Promise<void> {
    const { parts, live } = this.#deps
    const below = openChildren(parts.engine.sessions())
    for (const id of this.#faults.keys()) if (!live.has(id)) this.#faults.delete(id)
    for (const one of live.values()) {
      if (signal.aborted) return
      await this.#poll(one, below.get(one.watch.id) ?? 0, signal)
    }
    await this.#deps.remember(signal)
  }

  /** Each step by itself: a screen that cannot be read must not hide that its session has finished. */
  async #poll(one: T, runningChildren: number, signal: AbortSignal): Promise<void> {
    const { parts, lifecycle, look, undoTraps, interrupt } = this.#deps
    const { watch, transcript } = one
    const state = watch.state()
    if (!state || hasEnded(state)) return void this.#faults.delete(watch.id)
    const step = (name: string, act: () => Promise<void>) => this.#contain(watch.id, { name, act, signal })
    await step('reading the transcript', async () =>
      transcript.refresh(parts.config().child_agents.progress.snapshot_interval * 1000),
    )
    await step('looking at the terminal', async () => {
      if (watch.verdict.lifecycle !== 'idle' || (state.queue?.length ?? 0) > 0) await look(watch)
    })
    await step('looking after its walls', () => undoTraps(watch))
    // An interrupt takes as long as its proof: the others are not kept waiting for it.
    if (this.#isHeld(one) && !this.#stopping.has(watch.id)) {
      this.#stopping.add(watch.id)
      void step('stopping at a used-up budget', async () => void (await interrupt(one))).finally(() =>
        this.#stopping.delete(watch.id),
      )
    }
    await step('noticing that it is idle or done', () => lifecycle.tick(one, runningChildren))
  }

  /** A used-up budget ends the turn at its next boundary: between two tools, never in the middle of one. */
  #isHeld(one: T): boolean {
    const { parts, live } = this.#deps
    const { lifecycle, activity } = one.watch.verdict
    if (lifecycle !== 'running' || activity === 'calling_tool') return false
    const state = one.watch.state()
    if (!state || live.get(one.watch.id) !== one) return false
    return firstOverBudget(state, (id) => parts.engine.session(id)) !== undefined
  }

  /** Logged when it is new: a fault that lasts would fill the log every two seconds. */
  async #contain(
    id: SessionId,
    { name, act, signal }: { readonly name: string; readonly act: () => Promise<void>; signal: AbortSignal },
  ): Promise<void> {
    const steps = this.#faults.get(id) ?? new Map<string, string>()
    try {
      await act()
      steps.delete(name)
    } catch (error) {
      if (signal.aborted) return
      const text = String(error)
      if (steps.get(name) !== text) this.#deps.parts.onBug(error, `${name} of ${id}`)
      steps.set(name, text)
    }
    if (steps.size > 0) this.#faults.set(id, steps)
    else this.#faults.delete(id)
  }
}
