import type { SessionId } from '../../contract/ids.ts'
import type { SessionState } from '../../core/session/state.ts'
import type { Parts } from './parts.ts'
import { type Cures, type Extent, type Restored, reconcile } from './reconcile.ts'

/** A server that dies again so soon is not to be trusted with everything once more. */
const againMs = 60_000

/** Takes up sessions after the daemon, the terminals or the machine went down, and keeps what became of each. */
export class Restore {
  readonly #parts: Parts
  readonly #cures: Cures
  readonly #table = new Map<SessionId, Restored>()
  #work: Promise<unknown> = Promise.resolve()
  #diedAt = Number.NEGATIVE_INFINITY

  constructor(parts: Parts, cures: Cures) {
    this.#parts = parts
    this.#cures = cures
  }

  /** What became of each session, or would become of it. One at a time: two would start one session twice. */
  run(
    extent: Extent,
    signal: AbortSignal,
    open?: readonly Readonly<SessionState>[],
  ): Promise<readonly Restored[]> {
    const done = this.#work.then(() => this.#run(extent, signal, open))
    this.#work = done.catch(() => {})
    return done
  }

  /** When the daemon starts: those that were open then, also when one of them has ended in the meantime. */
  async atStart(open: readonly Readonly<SessionState>[], signal: AbortSignal): Promise<void> {
    await this.run(this.#usual(), signal, open)
  }

  /** When the server of the terminals is gone with all of them. */
  async afterDeath(signal: AbortSignal): Promise<void> {
    const now = this.#parts.clock.monotonic()
    const isAgain = now - this.#diedAt < againMs
    this.#diedAt = now
    await this.run(isAgain ? 'take up' : this.#usual(), signal)
  }

  #usual(): Extent {
    return this.#parts.config().sessions.auto_restore ? 'bring back' : 'take up'
  }

  async #run(
    extent: Extent,
    signal: AbortSignal,
    open?: readonly Readonly<SessionState>[],
  ): Promise<readonly Restored[]> {
    const { engine, terminal } = this.#parts
    const panes = await terminal.panes(signal)
    const results = await reconcile(open ?? openManaged(engine), { panes, extent, cures: this.#cures })
    if (extent === 'look') return results
    for (const result of results)
      if (result.result !== 'running' || !this.#table.has(result.sessionId))
        this.#table.set(result.sessionId, result)
    return [...this.#table.values()]
  }
}

/** Every open session that Muster runs. */
export const openManaged = (engine: Pick<Parts['engine'], 'sessions'>): Readonly<SessionState>[] =>
  Array.from(engine.sessions()).filter((state) => state.managed?.origin === 'managed')
