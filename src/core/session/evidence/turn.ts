import { type Evidence, latest, type Sighting, timeOf, trustOf } from './evidence.ts'
import type { Timing } from './timeouts.ts'

/** How a turn ended, or that none has begun since the conversation did. */
type TurnEnding = 'ended' | 'failed' | 'limited' | 'interrupted' | 'calm' | 'idle' | 'ready'

/** Whether the agent works on a prompt, and what says so. */
export type Turn =
  | { readonly state: 'none' }
  /** `by` is every sign of work since the last end, `sign` the latest. */
  | { readonly state: 'open'; readonly by: readonly Sighting[]; readonly sign: Sighting }
  /** `since` is when the work ended, which may be long before it was noticed. */
  | { readonly state: 'over'; readonly how: TurnEnding; readonly since: number; readonly by: Sighting }

/**
 * Finds whether a turn is open: the latest sign of work against the latest sign of an end. Hooks and
 * transcripts say so outright. A screen, or a text without the prompt before it, only suggests it, and
 * counts when it is clearly later than what was said outright.
 */
export function turnOf(evidence: Evidence, timing: Timing): Turn {
  const { last, asks, answers } = evidence
  const { settleMs } = timing.timeouts
  const response = last.response
  const finished = response?.isLast && timing.passed(response.at, settleMs) ? response : undefined
  const compacted = isAskedFor(last) ? last.compacted : undefined
  const begun = beginning(evidence, settleMs)
  const saidEnd = latest<Sighting>([
    last['turn-end'],
    last['turn-failed'],
    last.interrupted,
    last.idle,
    begun,
    hasReturned(evidence, last.exited, timing) ? last.exited : undefined,
    last.switched,
    compacted,
    finished,
  ])
  const said = [
    last.prompt,
    last['tool-start'],
    // One that a person asks for is work without a prompt; any other is part of a turn.
    last.compacting?.trigger === 'manual' ? last.compacting : undefined,
    latest(asks.filter((ask) => ask.agent === undefined)),
  ]
  // Work that the screen has shown ever since the turn ended is what it showed before; at rest meanwhile, it is new.
  const { 'screen-working': shown, 'screen-calm': calmed } = last
  const isNew = timeOf(calmed) > timeOf(saidEnd) && timeOf(calmed) < timeOf(shown)
  const screenMs = isNew ? settleMs : timing.timeouts.staleScreenMs
  const suggested: (Sighting | undefined)[] = [
    last.text,
    last['tool-end'],
    response?.isLast === false ? response : undefined,
    last.retrying,
    shown,
    last['screen-dialog'],
    // It continues with the answer, and the screen may still be that of the question.
    latest(answers.filter((answer) => answer.agent === undefined)),
  ]
  const isLater = (sighting: Sighting | undefined) =>
    timeOf(sighting) > timeOf(saidEnd) + (sighting === shown ? screenMs : settleMs)
  const works = [...said, ...suggested.filter(isLater)].filter((sighting) => sighting !== undefined)
  const work = latest<Sighting>(works)
  const sign = latest<Sighting>([...said, ...suggested.filter((one) => one !== shown || isLater(shown))])
  const calm = calmAfter(evidence, sign, timing)
  const end = latest<Sighting>([saidEnd, calm])
  if (!work && !end) return { state: 'none' }
  if (work && sign && (!end || isAfter(work, end)))
    return { state: 'open', by: works.filter((sighting) => sighting.at >= timeOf(end)), sign }
  return endingOf(evidence, { work, finished, calm, compacted, sign, begun })
}

/** Whether the last compaction was one that a person asked for: not every record says so, but then no prompt came after it was begun. */
function isAskedFor({ compacted, compacting, prompt }: Evidence['last']): boolean {
  if (compacted?.trigger !== undefined) return compacted.trigger === 'manual'
  const isOfBegun = timeOf(compacted) >= timeOf(compacting) && timeOf(prompt) <= timeOf(compacting)
  return compacting?.trigger === 'manual' && isOfBegun
}

/** A CLI may write the head of its transcript only when the first prompt comes, and date it later than that. */
function beginning({ last }: Evidence, settleMs: number): Sighting | undefined {
  const { ready, prompt, exited, gone } = last
  const isNew =
    ready?.reason === 'clear' ||
    timeOf(ready) > timeOf(prompt) + settleMs ||
    Math.max(timeOf(exited), timeOf(gone)) > timeOf(prompt)
  return isNew ? ready : undefined
}

// At one and the same time a turn ends rather than begins, unless the better source says otherwise.
function isAfter(work: Sighting, end: Sighting): boolean {
  return work.at === end.at ? trustOf[work.source] > trustOf[end.source] : work.at > end.at
}

/** The calm screen that ends a turn of which no end was told: Escape leaves no other trace. */
function calmAfter({ last }: Evidence, sign: Sighting | undefined, timing: Timing): Sighting | undefined {
  const calm = last['screen-calm']
  if (!calm || !sign || calm.at <= sign.at) return sign ? undefined : calm
  const { calmMs, unprovenMs, lagMs } = timing.timeouts
  // That the rules for this screen ever told something else than calm proves that they know this version.
  const isProven = last['screen-working'] ?? last['screen-dialog'] ?? calm.error ?? calm.limit
  const quietMs = isProven === undefined ? unprovenMs : calmMs
  const isSettled = calm.at >= sign.at + lagMs
  return timing.passed(sign.at, isSettled ? quietMs : 3 * quietMs) ? calm : undefined
}

type Found = {
  readonly [K in 'work' | 'finished' | 'calm' | 'compacted' | 'sign' | 'begun']: Sighting | undefined
}

function endingOf({ last }: Evidence, found: Found): Turn {
  const { calm, finished } = found
  const fresh = latest<Sighting>([found.begun, last.switched])
  const isOfTurn = (sighting: Sighting | undefined): sighting is Sighting =>
    sighting !== undefined && sighting.at >= timeOf(found.work) && sighting.at >= timeOf(fresh)
  const ends = [last['turn-end'], last.interrupted, last['turn-failed'], last.idle, finished]
  // A screen is calm again only after the work has ended, and the last sign of that is the better time.
  const since = Math.min(
    ...ends.filter(isOfTurn).map(timeOf),
    calm ? Math.max(timeOf(found.sign), timeOf(fresh)) : Infinity,
  )
  const over = (how: TurnEnding, by: Sighting): Turn => ({
    state: 'over',
    how,
    since: Number.isFinite(since) ? since : by.at,
    by,
  })
  const [failed, interrupted] = [last['turn-failed'], last.interrupted]
  // CLIs write the same closing line after a failed and an interrupted turn as after a good one.
  if (isOfTurn(failed) && failed.at >= timeOf(interrupted))
    return over(failed.limit ? 'limited' : 'failed', failed)
  if (isOfTurn(interrupted)) return over('interrupted', interrupted)
  const shown = isOfTurn(last['screen-calm']) ? last['screen-calm'] : undefined
  if (shown?.limit !== undefined) return over('limited', shown)
  const told = latest<Sighting>([last['turn-end'], finished].filter(isOfTurn))
  if (told) return over('ended', told)
  if (shown?.error !== undefined && found.work) return over('failed', shown)
  if (isOfTurn(last.idle)) return over('idle', last.idle)
  if (isOfTurn(calm)) return over('calm', calm)
  const rest = latest<Sighting>([fresh, found.compacted, calm])
  return rest ? over(fresh ? 'ready' : 'calm', rest) : { state: 'none' }
}

/** Whether the last turn was broken off, by a person or with its program, and nothing was begun since. */
export function isLastTurnInterrupted({ last }: Evidence): boolean {
  const { interrupted, prompt, 'turn-end': end } = last
  return interrupted !== undefined && interrupted.at >= Math.max(prompt?.at ?? 0, end?.at ?? 0)
}

/** Whether a prompt was taken of which no end was told: a screen may show nothing while an answer is being written. */
export function isTurnToldOpen({ last }: Evidence): boolean {
  const finished = last.response?.isLast ? last.response : undefined
  const ends = [last['turn-end'], last['turn-failed'], last.interrupted, last.idle, finished]
  const end = latest<Sighting>([...ends, last.switched, last.exited])
  // Only the prompt begins one: the record of a call that was cut off may be written after the end.
  return timeOf(last.prompt) > timeOf(end)
}

/** Whether the program was seen after it ended: it was started again, or it was another one that ended. */
export function hasReturned({ last }: Evidence, end: Sighting | undefined, timing: Timing): boolean {
  if (!end) return false
  const screens = [last['screen-working'], last['screen-calm'], last['screen-dialog']]
  // The last screen may be read while the program ends; what it was told to do may not.
  return (
    [last.prompt, last.ready, last['tool-start']].some((sighting) => timeOf(sighting) > end.at) ||
    screens.some((screen) => timeOf(screen) > end.at + timing.timeouts.settleMs)
  )
}
