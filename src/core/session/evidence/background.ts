import type { Evidence } from './evidence.ts'
import { latest, type Mark, timeOf } from './mark.ts'
import type { Moment } from './moment.ts'
import type { Turn } from './turn.ts'

/** Shells and subagents that work on after the turn has ended. */
export type Background = { readonly count: number; readonly seen: Mark }

/** What still works in the background of a session whose turn is over. */
export function backgroundOf(evidence: Evidence, turn: Turn, moment: Moment): Background | undefined {
  const end = evidence.marks['turn-end']
  if (turn.state !== 'over' || turn.how === 'ready') return undefined
  const told = end && end.at >= turn.since ? end : undefined
  const left = told ? told.background - endedSince(evidence, told.at) : 0
  // A CLI that cannot count them says none; their own signs are then the only ones.
  const alive = evidence.agents.filter(
    ({ seen, end: over }) =>
      seen.at > turn.since && timeOf(over) < seen.at && !moment.aged(seen.at, moment.patience.freshMs),
  )
  const count = Math.max(left, alive.length)
  const seen = latest<Mark>([told, ...alive.map((agent) => agent.seen)])
  return count > 0 && seen ? { count, seen } : undefined
}

// A subagent of which no start was seen may be one that the CLI runs for itself and never counted.
const endedSince = ({ agents }: Evidence, at: number): number =>
  agents.filter(({ start, end }) => start !== undefined && start.at <= at && timeOf(end) > at).length
