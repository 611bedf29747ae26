import type { Detection } from '../../../contract/events/session.ts'
import type { Completion } from './completion.ts'

const surePoints = 85

/** A guessed end as it is recorded: what decided, on which signs, and how sure. */
export function detectionOf({ score, signs }: Completion): Detection {
  const found = signs.filter(({ points }) => points > 0)
  const has = (name: string) => found.some(({ sign }) => sign === name)
  return {
    detector: has('claimed') ? 'phrase' : has('milestone') ? 'milestone' : 'idle',
    confidence: score >= surePoints ? 'high' : 'medium',
    score,
    evidence: found.map(({ sign, says }) => ({ signal: sign, detail: says })),
  }
}
