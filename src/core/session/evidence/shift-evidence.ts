import type { Evidence } from './evidence.ts'
import type { Mark } from './mark.ts'
import type { Marks } from './marks.ts'

/**
 * The same evidence after the clock was set by so many milliseconds. Without it, marks made before a
 * clock was set back would count as later than everything that follows.
 */
export function shiftEvidence({ marks, calls, asks, answers, agents }: Evidence, byMs: number): Evidence {
  const moved = <M extends Mark>(mark: M): M => ({ ...mark, at: mark.at + byMs })
  const ends = <T extends { readonly start?: Mark; readonly end?: Mark }>(one: T): T => ({
    ...one,
    ...(one.start && { start: moved(one.start) }),
    ...(one.end && { end: moved(one.end) }),
  })
  const entries = Object.entries(marks).map(([name, mark]) => [name, moved(mark)] as const)
  return {
    marks: Object.fromEntries(entries) as Marks,
    calls: calls.map(ends),
    asks: asks.map(moved),
    answers: answers.map(moved),
    agents: agents.map((agent) => ({ ...ends(agent), seen: moved(agent.seen) })),
  }
}
