import type { SessionId } from '../contract/ids.ts'

/** The session at the top of a tree, as far up as is known at once. */
export type TopOf = (id: SessionId) => SessionId

/** So much of what there is may be taken by all sessions together; the rest is always there for a person. */
export const shareOfSessions = (all: number): number => Math.max(1, Math.floor((all * 3) / 4))

/** What sessions hold of something of which there is only so much. */
export class Shares<T> {
  readonly #topOf: TopOf
  /** In the order in which they came. */
  readonly #holders = new Map<T, SessionId>()

  constructor(topOf: TopOf) {
    this.#topOf = topOf
  }

  get size(): number {
    return this.#holders.size
  }

  /** All of them, the oldest first. */
  keys(): Iterable<T> {
    return this.#holders.keys()
  }

  add(thing: T, sessionId: SessionId): void {
    this.#holders.set(thing, sessionId)
  }

  delete(thing: T): void {
    this.#holders.delete(thing)
  }

  of(sessionId: SessionId): T[] {
    return [...this.#holders].flatMap(([thing, id]) => (id === sessionId ? [thing] : []))
  }

  /**
   * What is to leave when there is too much: the newest of the session that holds most, in the tree that holds most. Of
   * two that hold the same the one that came last leaves, so that nobody is turned out for an equal.
   */
  next(): T | undefined {
    const sessions = new Map<SessionId, Held<T>>()
    let at = 0
    for (const [newest, id] of this.#holders) {
      const count = (sessions.get(id)?.count ?? 0) + 1
      sessions.set(id, { id, count, newest, at: at++ })
    }
    const trees = Map.groupBy(sessions.values(), ({ id }) => this.#topOf(id))
    const sums = [...trees.values()].map((held) => ({
      held,
      count: held.reduce((sum, { count }) => sum + count, 0),
      at: Math.max(...held.map((one) => one.at)),
    }))
    return most(most(sums)?.held ?? [])?.newest
  }
}

/** What one session holds: how much, the newest of it, and when that came. */
type Held<T> = {
  readonly id: SessionId
  readonly count: number
  readonly newest: T
  readonly at: number
}

function most<U extends { readonly count: number; readonly at: number }>(all: readonly U[]): U | undefined {
  return all.toSorted((a, b) => b.count - a.count || b.at - a.at)[0]
}
