import { backgroundOf } from './background.ts'
import type { Evidence } from './evidence.ts'
import type { Mark } from './mark.ts'
import type { Moment } from './moment.ts'
import type { Turn } from './turn.ts'
import type { State } from './verdict.ts'

/** The state of a session whose turn is over. */
export function restingState(
  evidence: Evidence,
  turn: Extract<Turn, { state: 'over' }>,
  moment: Moment,
): { readonly state: State; readonly by: readonly Mark[] } {
  const idle: State = { lifecycle: 'idle', activity: 'idle', health: 'ok' }
  const { marks } = evidence
  const by = [turn.by]
  if (turn.how === 'limited') return { state: limitedState(evidence, turn, moment) ?? idle, by }
  if (turn.how === 'failed') return { state: { ...idle, lifecycle: 'error' }, by }
  const background = backgroundOf(evidence, turn, moment)
  if (background) {
    const isLong = moment.aged(background.seen.at, moment.idleAfterMs)
    const state: State = isLong ? idle : { lifecycle: 'running', activity: 'working', health: 'ok' }
    return { state: { ...state, waitingFor: 'background' }, by: [...by, background.seen] }
  }
  if (turn.how === 'ready' && isStarting(evidence, turn, moment))
    return { state: { ...idle, lifecycle: 'starting' }, by }
  const queued = marks.queued
  // What the CLI has queued becomes the next turn at once, and not every version tells that.
  const isQueued =
    queued !== undefined &&
    queued.at < turn.by.at &&
    queued.at > (marks.prompt?.at ?? Number.NEGATIVE_INFINITY) &&
    !moment.after(turn.since, moment.patience.settleMs)
  if (isQueued && turn.how !== 'ready')
    return { state: { lifecycle: 'running', activity: 'thinking', health: 'ok' }, by: [...by, queued] }
  return { state: idle, by }
}

/** A limit holds until the time that was told; one without a time is believed for a while. */
function limitedState(
  { marks }: Evidence,
  turn: Extract<Turn, { state: 'over' }>,
  moment: Moment,
): State | undefined {
  const used = marks.meter?.limits?.filter(
    ({ usedPercent = 0, resetsAtMs = 0 }) => usedPercent >= 99 && resetsAtMs > turn.since,
  )
  const told = marks['turn-failed'] === turn.by ? marks['turn-failed'].limit?.resetsAtMs : undefined
  const metered = used?.length ? Math.max(...used.map((limit) => limit.resetsAtMs ?? 0)) : undefined
  const until = told ?? metered
  if (moment.after(until ?? turn.since, until === undefined ? moment.patience.limitMs : 0)) return undefined
  return {
    lifecycle: 'idle',
    activity: 'idle',
    health: 'limited',
    waitingFor: 'limit',
    ...(until !== undefined && { waitingUntil: until }),
  }
}

// A prompt given on the command line follows at once; without one the program waits at its box.
const isStarting = ({ marks }: Evidence, turn: Extract<Turn, { state: 'over' }>, moment: Moment): boolean =>
  marks.ready === turn.by &&
  marks.ready.reason !== 'clear' &&
  marks.prompt === undefined &&
  !moment.after(turn.by.at, moment.patience.settleMs)
