import type { AgentCliName } from '../../contract/config/names.ts'
import { AppError } from '../../contract/errors.ts'
import type { Draft } from '../../contract/event.ts'
import type { SessionId } from '../../contract/ids.ts'
import type { Fleet } from '../../core/fleet.ts'
import type { SessionState } from '../../core/session/state.ts'
import type { ForeignSession } from '../../ports/agent-cli.ts'
import { draftOf } from '../sessions/drafts.ts'
import type { Parts } from '../sessions/parts.ts'
import { begun, ended, news, observedId, rootOf } from './observed-facts.ts'
import { lifecycleOf, Seen } from './seen.ts'

/** What observing needs; no terminal is among it, and nothing that could change what is seen. */
export type ObserverParts = Pick<
  Parts,
  'engine' | 'clock' | 'ids' | 'files' | 'clis' | 'config' | 'onBug'
> & {
  readonly processes: Pick<Parts['processes'], 'variable'>
  readonly env: Readonly<Record<string, string>>
}

/** Nobody looks: often enough to be roughly right, seldom enough to cost nothing. */
const beatMs = 30_000
/** Somebody looks: no sooner again than this, and no longer waited for than this. */
const freshMs = 2_000
const patienceMs = 250

/**
 * Finds the sessions of coding agents that were started outside of Muster and keeps what is known of them. It reads
 * what they write of themselves; nothing of theirs is written, and no signal is sent.
 */
export class Observer {
  readonly #parts: ObserverParts
  readonly #seen = new Map<SessionId, Seen>()
  readonly #held = new Set<SessionId>()
  readonly #stopped = new AbortController()
  #looking: Promise<void> | undefined
  #lookedAt = Number.NEGATIVE_INFINITY
  #beating: Promise<void> | undefined

  constructor(parts: ObserverParts) {
    this.#parts = parts
  }

  /** Looks from time to time until it is stopped. */
  start(): void {
    const beat = async (): Promise<void> => {
      while (!this.#stopped.signal.aborted) {
        await this.#look()
        await this.#parts.clock.sleep(beatMs, this.#stopped.signal).catch(() => {})
      }
    }
    this.#beating = beat()
  }

  async stop(): Promise<void> {
    this.#stopped.abort()
    await this.#beating
    await this.#looking
  }

  get(id: SessionId): Seen | undefined {
    return this.#seen.get(id)
  }

  /** Keeps its hands off a session while it is taken over. */
  async without<T>(id: SessionId, act: () => Promise<T>): Promise<T> {
    this.#held.add(id)
    try {
      await this.#looking
      return await act()
    } finally {
      this.#held.delete(id)
    }
  }

  judgeOptions() {
    const { auto_complete } = this.#parts.config().child_agents
    return { now: this.#parts.clock.now(), idleAfterMs: auto_complete.idle_timeout * 1000 }
  }

  /** Somebody wants to see; they get what is known when finding out takes too long. */
  async wanted(): Promise<void> {
    const { clock } = this.#parts
    if (clock.monotonic() - this.#lookedAt < freshMs || this.#stopped.signal.aborted) return
    const late = new AbortController()
    await Promise.race([this.#look(), clock.sleep(patienceMs, late.signal).catch(() => {})])
    late.abort()
  }

  /** One look at a time; who comes meanwhile gets the same. */
  #look(): Promise<void> {
    this.#looking ??= this.#once()
      .catch((error: unknown) => {
        if (!this.#stopped.signal.aborted) this.#parts.onBug(error, 'observing')
      })
      .finally(() => {
        this.#looking = undefined
        this.#lookedAt = this.#parts.clock.monotonic()
      })
    return this.#looking
  }

  async #once(): Promise<void> {
    const isWanted = this.#parts.config().sessions.observe
    const present = new Set<SessionId>()
    const failed = new Set<string>()
    for (const cli of Object.values(this.#parts.clis))
      for (const found of isWanted ? await this.#found(cli.name, failed) : []) {
        const id = await this.#contain(`taking up ${found.foreignId}`, () => this.#taken(found))
        if (id === 'failed') failed.add(cli.name)
        else if (id) present.add(id)
      }
    for (const state of Array.from(this.#parts.engine.sessions()))
      if (state.managed?.origin === 'observed' && !present.has(state.sessionId)) {
        // A CLI whose files could not be read now has not ended.
        if (failed.has(state.managed.cli)) continue
        this.#seen.delete(state.sessionId)
        await this.#contain(`the end of ${state.sessionId}`, () =>
          this.#write(state, [ended(state, isWanted)]),
        )
      }
    for (const id of present) await this.#contain(`what ${id} does`, () => this.#conclude(id))
  }

  /** One session that cannot be observed must not hide all that come after it in every round. */
  async #contain<T>(what: string, act: () => Promise<T>): Promise<T | 'failed'> {
    try {
      return await act()
    } catch (error) {
      if (this.#stopped.signal.aborted) throw error
      this.#parts.onBug(error, `observing: ${what}`)
      return 'failed'
    }
  }

  /** Only of one that is still observed: in the meantime somebody may have taken it over. */
  async #write({ sessionId }: Readonly<SessionState>, drafts: readonly Draft[]): Promise<void> {
    if (drafts.length === 0 || this.#held.has(sessionId)) return
    const guard = ({ sessions }: Fleet): void => {
      if (sessions.get(sessionId)?.managed?.origin !== 'observed')
        throw new AppError('conflict', 'taken over')
    }
    await this.#parts.engine.perform(drafts, guard).catch((error: unknown) => {
      if (!(error instanceof AppError && error.code === 'conflict')) throw error
    })
  }

  async #found(cli: AgentCliName, failed: Set<string>): Promise<readonly ForeignSession[]> {
    try {
      return await this.#parts.clis[cli].foreign(this.#parts.env, this.#stopped.signal)
    } catch (error) {
      failed.add(cli)
      if (!this.#stopped.signal.aborted) this.#parts.onBug(error, `observing ${cli}`)
      return []
    }
  }

  /** Takes up one that is not ours; answers which session it is. */
  async #taken(found: ForeignSession): Promise<SessionId | undefined> {
    const { engine, processes } = this.#parts
    if (found.pid === undefined || (await processes.variable(found.pid, 'MUSTER_SESSION'))) return undefined
    const isOurs = ({ managed }: Readonly<SessionState>): boolean =>
      managed?.origin === 'managed' && managed.foreignId === found.foreignId
    if (Array.from(engine.sessions()).some(isOurs)) return undefined
    const { id, state } = await this.#identified(found)
    const drafts = begun(found, { id, state, ids: this.#parts.ids })
    if (drafts.length > 0) await engine.perform(drafts)
    const seen = this.#seen.get(id)
    if (seen) seen.found = found
    else this.#seen.set(id, new Seen(found))
    return id
  }

  /** The same conversation is the same session, unless that one was taken over and is ours since. */
  async #identified(found: ForeignSession) {
    for (let again = 0; ; again++) {
      const id = observedId(found, again)
      const state = await this.#parts.engine.known(id)
      if (state?.managed?.origin !== 'managed') return { id, state }
    }
  }

  /** Writes what changed, and only that. */
  async #conclude(id: SessionId): Promise<void> {
    const { engine, files, clis } = this.#parts
    const [seen, state] = [this.#seen.get(id), engine.session(id)]
    if (!seen || state?.managed?.origin !== 'observed') return
    await seen.read(files, clis[seen.found.cli])
    const verdict = seen.verdict(this.judgeOptions())
    const [from, to] = [state.lifecycle, lifecycleOf(verdict)]
    const isChanged = from !== to && to !== 'starting'
    const changed = { from, to, activity: verdict.activity }
    await this.#write(state, [
      ...(isChanged ? [draftOf(rootOf(state), 'session.state.changed', changed)] : []),
      ...news(seen.found, state),
    ])
  }
}
