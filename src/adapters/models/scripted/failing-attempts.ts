import type { FailsAgain } from './choose-answer.ts'

const mostPlaces = 1000

/** Counts attempts at steps that fail a few times and then go on: the one thing a conversation does not tell. */
export function failingAttempts(): FailsAgain {
  const counts = new Map<string, number>()
  return (place, times) => {
    if (times === undefined) return true
    const count = counts.get(place) ?? 0
    if (count >= times) return false
    counts.delete(place)
    counts.set(place, count + 1)
    const [oldest] = counts.keys()
    if (counts.size > mostPlaces && oldest !== undefined) counts.delete(oldest)
    return true
  }
}
