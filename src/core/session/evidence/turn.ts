import type { Evidence } from './evidence.ts'
import { isBack } from './is-back.ts'
import { latest, type Mark, timeOf, trustOf } from './mark.ts'
import type { Moment } from './moment.ts'

/** How a turn ended, or that none has begun since the conversation did. */
export type TurnEnding = 'ended' | 'failed' | 'limited' | 'interrupted' | 'calm' | 'idle' | 'ready'

/** Whether the agent works on a prompt, and what says so. */
export type Turn =
  | { readonly state: 'none' }
  /** `by` is every sign of work since the last end, `sign` the latest. */
  | { readonly state: 'open'; readonly by: readonly Mark[]; readonly sign: Mark }
  /** `since` is when the work ended, which may be long before it was noticed. */
  | { readonly state: 'over'; readonly how: TurnEnding; readonly since: number; readonly by: Mark }

/**
 * Finds whether a turn is open: the latest sign of work against the latest sign of an end. Hooks and
 * transcripts say so outright. A screen, or a text without the prompt before it, only suggests it, and
 * counts when it is clearly later than what was said outright.
 */
export function turnOf(evidence: Evidence, moment: Moment): Turn {
  const { marks, asks, answers } = evidence
  const { settleMs } = moment.patience
  const response = marks.response
  const finished = response?.isLast && moment.after(response.at, settleMs) ? response : undefined
  const compacted = marks.compacted?.trigger === 'manual' ? marks.compacted : undefined
  const begun = beginning(evidence, settleMs)
  const saidEnd = latest<Mark>([
    marks['turn-end'],
    marks['turn-failed'],
    marks.interrupted,
    marks.idle,
    begun,
    isBack(evidence, marks.exited, moment) ? marks.exited : undefined,
    marks.switched,
    compacted,
    finished,
  ])
  const said = [marks.prompt, marks['tool-start'], latest(asks.filter((ask) => ask.agent === undefined))]
  const suggested: (Mark | undefined)[] = [
    marks.text,
    marks['tool-end'],
    response?.isLast === false ? response : undefined,
    marks.retrying,
    marks['screen-working'],
    marks['screen-dialog'],
    // It goes on with the answer, and the screen may still be that of the question.
    latest(answers.filter((answer) => answer.agent === undefined)),
  ]
  const isLater = (mark: Mark | undefined) => timeOf(mark) > timeOf(saidEnd) + settleMs
  const works = [...said, ...suggested.filter(isLater)].filter((mark) => mark !== undefined)
  const work = latest<Mark>(works)
  const sign = latest<Mark>([...said, ...suggested])
  const calm = calmAfter(evidence, sign, moment)
  const end = latest<Mark>([saidEnd, calm])
  if (!work && !end) return { state: 'none' }
  if (work && sign && (!end || isAfter(work, end)))
    return { state: 'open', by: works.filter((mark) => mark.at >= timeOf(end)), sign }
  return endingOf(evidence, { work, finished, calm, compacted, sign, begun })
}

/** A CLI may write the head of its transcript only when the first prompt comes, and date it later than that. */
function beginning({ marks }: Evidence, settleMs: number): Mark | undefined {
  const { ready, prompt, exited, gone } = marks
  const isNew =
    ready?.reason === 'clear' ||
    timeOf(ready) > timeOf(prompt) + settleMs ||
    Math.max(timeOf(exited), timeOf(gone)) > timeOf(prompt)
  return isNew ? ready : undefined
}

// In one and the same moment a turn ends rather than begins, unless the better source says otherwise.
function isAfter(work: Mark, end: Mark): boolean {
  return work.at === end.at ? trustOf[work.source] > trustOf[end.source] : work.at > end.at
}

/** The calm screen that ends a turn of which no end was told: Escape leaves no other trace. */
function calmAfter({ marks }: Evidence, sign: Mark | undefined, moment: Moment): Mark | undefined {
  const calm = marks['screen-calm']
  if (!calm || !sign || calm.at <= sign.at) return sign ? undefined : calm
  const { calmMs, unprovenMs, lagMs } = moment.patience
  // That the rules for this screen ever told something else than calm proves that they know this version.
  const isProven = marks['screen-working'] ?? marks['screen-dialog'] ?? calm.error ?? calm.limit
  const quietMs = isProven === undefined ? unprovenMs : calmMs
  const isSettled = calm.at >= sign.at + lagMs
  return moment.after(sign.at, isSettled ? quietMs : 3 * quietMs) ? calm : undefined
}

type Found = {
  readonly [K in 'work' | 'finished' | 'calm' | 'compacted' | 'sign' | 'begun']: Mark | undefined
}

function endingOf({ marks }: Evidence, found: Found): Turn {
  const { calm, finished } = found
  const fresh = latest<Mark>([found.begun, marks.switched])
  const isOfTurn = (mark: Mark | undefined): mark is Mark =>
    mark !== undefined && mark.at >= timeOf(found.work) && mark.at >= timeOf(fresh)
  const ends = [marks['turn-end'], marks.interrupted, marks['turn-failed'], marks.idle, finished]
  // A screen is calm again only after the work has ended, and the last sign of that is the better time.
  const since = Math.min(
    ...ends.filter(isOfTurn).map(timeOf),
    calm ? Math.max(timeOf(found.sign), timeOf(fresh)) : Infinity,
  )
  const over = (how: TurnEnding, by: Mark): Turn => ({
    state: 'over',
    how,
    since: Number.isFinite(since) ? since : by.at,
    by,
  })
  const [failed, interrupted] = [marks['turn-failed'], marks.interrupted]
  // CLIs write the same closing line after a failed and an interrupted turn as after a good one.
  if (isOfTurn(failed) && failed.at >= timeOf(interrupted))
    return over(failed.limit ? 'limited' : 'failed', failed)
  if (isOfTurn(interrupted)) return over('interrupted', interrupted)
  const shown = isOfTurn(marks['screen-calm']) ? marks['screen-calm'] : undefined
  if (shown?.limit !== undefined) return over('limited', shown)
  const told = latest<Mark>([marks['turn-end'], finished].filter(isOfTurn))
  if (told) return over('ended', told)
  if (shown?.error !== undefined && found.work) return over('failed', shown)
  if (isOfTurn(marks.idle)) return over('idle', marks.idle)
  if (isOfTurn(calm)) return over('calm', calm)
  const rest = latest<Mark>([fresh, found.compacted, calm])
  return rest ? over(fresh ? 'ready' : 'calm', rest) : { state: 'none' }
}
