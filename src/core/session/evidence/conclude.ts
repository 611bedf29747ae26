import type * as z from 'zod'
import type { Activity, Lifecycle } from '../../../contract/values.ts'
import { type Call, isOpen } from './calls-and-questions.ts'
import { type Evidence, latest, type Sighting, timeOf } from './evidence.ts'
import { pendingQuestion } from './pending-question.ts'
import type { Timing } from './timeouts.ts'
import { hasReturned, type Turn, turnOf } from './turn.ts'

/** Whether the state can be relied on, and what is wrong with the session. */
type Health = 'ok' | 'stale' | 'stuck' | 'retrying' | 'limited' | 'gone' | 'crashed'

/** What a session that does not work waits for. `dialog` is one of the program itself: trust, login, notice. */
export type WaitingFor = 'permission' | 'question' | 'plan' | 'dialog' | 'background' | 'limit'

/** The conclusion, without what it rests on. Whether the work is complete is not among it. */
export type DerivedState = {
  readonly lifecycle: Extract<
    Lifecycle,
    'starting' | 'running' | 'waiting_input' | 'idle' | 'failed' | 'error'
  >
  readonly activity: z.infer<typeof Activity>
  readonly waitingFor?: WaitingFor
  /** When what it waits for is over; only when somebody told. */
  readonly waitingUntil?: number
  readonly health: Health
}

/** A state and the signs that it rests on. */
type Conclusion = { readonly state: DerivedState; readonly by: readonly Sighting[]; readonly since?: number }

/** What the evidence says at this time. The first rule that fits decides. */
export function conclude(evidence: Evidence, timing: Timing): Conclusion {
  const found = concluded(evidence, timing)
  const { health } = found.state
  const isDoubtful = health === 'ok' && !isConfirmed(evidence, timing)
  return isDoubtful ? { ...found, state: { ...found.state, health: 'stale' } } : found
}

function concluded(evidence: Evidence, timing: Timing): Conclusion {
  const turn = turnOf(evidence, timing)
  const ended = stateAfterExit(evidence, turn, timing)
  if (ended) return { ...ended, ...since(ended.by) }
  const asked = pendingQuestion(evidence, timing)
  if (asked) {
    const isOld = timing.watchedFor(asked.seen.at, timing.timeouts.askMs)
    const health = isOld ? 'stale' : 'ok'
    return {
      state: { lifecycle: 'waiting_input', activity: 'idle', waitingFor: asked.for, health },
      by: [asked.by, asked.seen],
      since: asked.by.at,
    }
  }
  if (turn.state === 'open') return { ...stateDuringTurn(evidence, turn, timing), ...since(turn.by) }
  if (turn.state === 'over') return { ...stateAfterTurn(evidence, turn, timing), since: turn.since }
  const { startedAt } = timing.options
  const isLate = startedAt !== undefined && timing.watchedFor(startedAt, timing.timeouts.startMs)
  return { state: { lifecycle: 'starting', activity: 'idle', health: isLate ? 'stuck' : 'ok' }, by: [] }
}

function since(by: readonly Sighting[]): { since?: number } {
  const first = by.toSorted((a, b) => a.at - b.at)[0]
  return first ? { since: first.at } : {}
}

/**
 * Whether something was seen since the watching resumed, and nothing comes from the future: after either,
 * the state is only the last one known.
 */
function isConfirmed({ last, asks }: Evidence, timing: Timing): boolean {
  const newest = latest<Sighting>([...Object.values(last), ...asks])
  if (!newest) return true
  const { resumedAt } = timing.options
  const isSeen = resumedAt === undefined || newest.at >= resumedAt
  return isSeen && timing.passed(newest.at, -timing.timeouts.settleMs)
}

/** The state of a session whose program is no longer there. */
function stateAfterExit(evidence: Evidence, turn: Turn, timing: Timing): Conclusion | undefined {
  const { last } = evidence
  // A program that a tool runs may say goodbye in this session's name: in a turn that alone is not believed.
  const isBelieved =
    turn.state !== 'open' ||
    (last.gone !== undefined && timing.watchedFor(last.gone.at, timing.timeouts.freshMs))
  const end = latest<Sighting>([last.exited, isBelieved ? last.gone : undefined])
  if (!end || hasReturned(evidence, end, timing)) return undefined
  const isOfThisLife = (sighting: Sighting) => sighting.at > timeOf(last.ready)
  const [exited, gone] = [last.exited, last.gone].map((sighting) =>
    sighting && isOfThisLife(sighting) ? sighting : undefined,
  )
  const { code, signal } = last.exited ?? {}
  const isCrash = exited !== undefined && (signal !== undefined || (code ?? 0) !== 0)
  // A terminal that vanished leaves no exit code; only a goodbye of the program tells it from a crash.
  const isVanished = exited !== undefined && code === undefined
  const isGoodbye = gone !== undefined && (last.gone?.reason ?? 'other') !== 'other'
  const isError = isCrash || (!isGoodbye && (isVanished || turn.state === 'open'))
  const by = [exited, gone].filter((sighting) => sighting !== undefined)
  const health = isCrash ? 'crashed' : 'gone'
  return { state: { lifecycle: isError ? 'error' : 'idle', activity: 'idle', health }, by }
}

/** The state of a session with an open turn: it decays when nothing is seen of it any more. */
function stateDuringTurn(
  evidence: Evidence,
  turn: Extract<Turn, { state: 'open' }>,
  timing: Timing,
): Conclusion {
  const { last } = evidence
  const { timeouts, watchedFor } = timing
  const calls = openCalls(evidence, timing)
  const progress = latest<Sighting>([...stepsOfTurn(evidence), last.agent, last.compacted]) ?? turn.sign
  const seen = latest<Sighting>([turn.sign, progress, last.queued]) ?? turn.sign
  const by = [...turn.by, seen, ...calls.flatMap(({ start }) => (start ? [start] : []))]
  const retry = retrySign(evidence, timing)
  const running = (health: DerivedState['health']): DerivedState => ({
    lifecycle: 'running',
    activity: activityDuringTurn(evidence, calls, retry),
    health,
  })
  if (!watchedFor(seen.at, calls.length > 0 ? timeouts.callMs : timeouts.freshMs)) {
    if (retry) return { state: running('retrying'), by: [...by, retry] }
    const isStuck = watchedFor(progress.at, calls.length > 0 ? timeouts.stuckCallMs : timeouts.stuckMs)
    return { state: running(isStuck ? 'stuck' : 'ok'), by }
  }
  if (calls.length > 0)
    return { state: running(watchedFor(seen.at, timeouts.stuckCallMs) ? 'stuck' : 'stale'), by }
  const isIdle = watchedFor(seen.at, Math.max(timing.idleAfterMs, timeouts.freshMs))
  return { state: isIdle ? { lifecycle: 'idle', activity: 'idle', health: 'stale' } : running('stale'), by }
}

const stepsOfTurn = ({ last }: Evidence): readonly (Sighting | undefined)[] => [
  last.prompt,
  last['tool-start'],
  last['tool-end'],
  last.text,
  last.response,
]

/** What shows that a request to the model is being repeated; no hook tells it. */
function retrySign(evidence: Evidence, timing: Timing): Sighting | undefined {
  const { last } = evidence
  const screens = [last['screen-working'], last['screen-calm'], last['screen-dialog']]
  const screen = latest(screens)
  const step = latest(stepsOfTurn(evidence))
  if (screen?.retry && screen.at > timeOf(step)) return screen
  const told = last.retrying
  const isShownOver = timeOf(screen) > timeOf(told) + timing.timeouts.settleMs
  return told && told.at > timeOf(step) && !isShownOver ? told : undefined
}

function activityDuringTurn(
  { last }: Evidence,
  calls: readonly Call[],
  retry: Sighting | undefined,
): DerivedState['activity'] {
  if (calls.length > 0) return 'calling_tool'
  if (retry) return 'thinking'
  const asked = Math.max(timeOf(last.prompt), timeOf(last['tool-end']))
  const answered = Math.max(timeOf(last.text), timeOf(last.response))
  return asked > answered ? 'thinking' : 'working'
}

/**
 * The session's own tool calls that run. The end of a call may be lost; that the turn ended, or that the
 * model said something after it, shows that it is over.
 */
function openCalls({ calls, last }: Evidence, timing: Timing): readonly Call[] {
  const ended = latest<Sighting>([
    last['turn-end'],
    last['turn-failed'],
    last.interrupted,
    last.idle,
    last.ready,
    last.switched,
  ])
  const wentOn = latest<Sighting>([last.text, last.response, last['tool-start']])
  return calls.filter(
    (call) =>
      call.agent === undefined &&
      isOpen(call) &&
      timeOf(call.start) > timeOf(ended) &&
      timeOf(wentOn) <= timeOf(call.start) + timing.timeouts.parallelMs,
  )
}

/** The state of a session whose turn is over. */
function stateAfterTurn(
  evidence: Evidence,
  turn: Extract<Turn, { state: 'over' }>,
  timing: Timing,
): Conclusion {
  const idle: DerivedState = { lifecycle: 'idle', activity: 'idle', health: 'ok' }
  const { last } = evidence
  const by = [turn.by]
  if (turn.how === 'failed') return { state: { ...idle, lifecycle: 'failed' }, by }
  if (turn.how === 'limited')
    return { state: { ...idle, lifecycle: 'failed', ...limitOf(evidence, turn, timing) }, by }
  const background = backgroundOf(evidence, turn, timing)
  if (background) {
    const isLong = timing.watchedFor(background.seen.at, timing.idleAfterMs)
    const state: DerivedState = isLong ? idle : { lifecycle: 'running', activity: 'working', health: 'ok' }
    return { state: { ...state, waitingFor: 'background' }, by: [...by, background.seen] }
  }
  if (turn.how === 'ready' && isStarting(evidence, turn, timing))
    return { state: { ...idle, lifecycle: 'starting' }, by }
  const queued = last.queued
  // What the CLI has queued becomes the next turn at once, and not every version tells that.
  const isQueued =
    queued !== undefined &&
    queued.at < turn.by.at &&
    queued.at > (last.prompt?.at ?? Number.NEGATIVE_INFINITY) &&
    !timing.passed(turn.since, timing.timeouts.settleMs)
  if (isQueued && turn.how !== 'ready')
    return { state: { lifecycle: 'running', activity: 'thinking', health: 'ok' }, by: [...by, queued] }
  return { state: idle, by }
}

/**
 * What a turn that met a limit waits for: the time that was told; a limit without one is believed for a while. When it
 * is over, the turn has failed all the same: its prompt was not worked on, and nobody sends it again.
 */
function limitOf(
  { last }: Evidence,
  turn: Extract<Turn, { state: 'over' }>,
  timing: Timing,
): Pick<DerivedState, 'health' | 'waitingFor' | 'waitingUntil'> | undefined {
  const used = last.meter?.limits?.filter(
    ({ usedPercent = 0, resetsAtMs = 0 }) => usedPercent >= 99 && resetsAtMs > turn.since,
  )
  const told = last['turn-failed'] === turn.by ? last['turn-failed'].limit?.resetsAtMs : undefined
  const metered = used?.length ? Math.max(...used.map((limit) => limit.resetsAtMs ?? 0)) : undefined
  const until = told ?? metered
  if (timing.passed(until ?? turn.since, until === undefined ? timing.timeouts.limitMs : 0)) return undefined
  return { health: 'limited', waitingFor: 'limit', ...(until !== undefined && { waitingUntil: until }) }
}

// A prompt given on the command line follows at once; without one the program waits at its box.
const isStarting = ({ last }: Evidence, turn: Extract<Turn, { state: 'over' }>, timing: Timing): boolean =>
  last.ready === turn.by &&
  last.ready.reason !== 'clear' &&
  last.prompt === undefined &&
  !timing.passed(turn.by.at, timing.timeouts.settleMs)

/** Shells and subagents that work on after the turn has ended. */
type Background = { readonly count: number; readonly seen: Sighting }

/** What still works in the background of a session whose turn is over. */
function backgroundOf(evidence: Evidence, turn: Turn, timing: Timing): Background | undefined {
  const end = evidence.last['turn-end']
  if (turn.state !== 'over' || turn.how === 'ready') return undefined
  const told = end && end.at >= turn.since ? end : undefined
  const left = told ? told.background - endedSince(evidence, told.at) : 0
  // A CLI that cannot count them says none; their own signs are then the only ones.
  const alive = evidence.agents.filter(
    ({ seen, end: over }) =>
      seen.at > turn.since && timeOf(over) < seen.at && !timing.watchedFor(seen.at, timing.timeouts.freshMs),
  )
  const count = Math.max(left, alive.length)
  const seen = latest<Sighting>([told, ...alive.map((agent) => agent.seen)])
  return count > 0 && seen ? { count, seen } : undefined
}

// A subagent of which no start was seen may be one that the CLI runs for itself and never counted.
const endedSince = ({ agents }: Evidence, at: number): number =>
  agents.filter(({ start, end }) => start !== undefined && start.at <= at && timeOf(end) > at).length
