import { askedOf } from './asked.ts'
import { endedProcess } from './ended-process.ts'
import type { Evidence } from './evidence.ts'
import { latest, type Mark } from './mark.ts'
import type { Moment } from './moment.ts'
import { restingState } from './resting.ts'
import { runningState } from './running.ts'
import { turnOf } from './turn.ts'
import type { State } from './verdict.ts'

/** A state and the signs that it rests on. */
export type Conclusion = { readonly state: State; readonly by: readonly Mark[]; readonly since?: number }

/** What the evidence says at a moment. The first rule that fits decides. */
export function conclude(evidence: Evidence, moment: Moment): Conclusion {
  const found = concluded(evidence, moment)
  const { health } = found.state
  const isDoubtful = health === 'ok' && !isConfirmed(evidence, moment)
  return isDoubtful ? { ...found, state: { ...found.state, health: 'stale' } } : found
}

function concluded(evidence: Evidence, moment: Moment): Conclusion {
  const turn = turnOf(evidence, moment)
  const ended = endedProcess(evidence, turn, moment)
  if (ended) return { ...ended, ...since(ended.by) }
  const asked = askedOf(evidence, moment)
  if (asked) {
    const isOld = moment.aged(asked.seen.at, moment.patience.askMs)
    const health = isOld ? 'stale' : 'ok'
    return {
      state: { lifecycle: 'waiting_input', activity: 'idle', waitingFor: asked.for, health },
      by: [asked.by, asked.seen],
      since: asked.by.at,
    }
  }
  if (turn.state === 'open') return { ...runningState(evidence, turn, moment), ...since(turn.by) }
  if (turn.state === 'over') return { ...restingState(evidence, turn, moment), since: turn.since }
  const { startedAt } = moment.options
  const isLate = startedAt !== undefined && moment.aged(startedAt, moment.patience.startMs)
  return { state: { lifecycle: 'starting', activity: 'idle', health: isLate ? 'stuck' : 'ok' }, by: [] }
}

function since(by: readonly Mark[]): { since?: number } {
  const first = by.toSorted((a, b) => a.at - b.at)[0]
  return first ? { since: first.at } : {}
}

/**
 * Whether something was seen since the watching resumed, and nothing comes from the future: after either,
 * the state is only the last one known.
 */
function isConfirmed({ marks, asks }: Evidence, moment: Moment): boolean {
  const newest = latest<Mark>([...Object.values(marks), ...asks])
  if (!newest) return true
  const { resumedAt } = moment.options
  const isSeen = resumedAt === undefined || newest.at >= resumedAt
  return isSeen && moment.after(newest.at, -moment.patience.settleMs)
}
