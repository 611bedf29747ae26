import type * as z from 'zod'
import type { ChildAgentsConfig } from '../../../contract/config/session-settings.ts'
import type { Detection } from '../../../contract/events/session.ts'
import { type Evidence, latest, type Sighting, timeOf } from './evidence.ts'
import { blockerOf, claimsOf } from './last-message.ts'
import { timingAt } from './timeouts.ts'
import { turnOf } from './turn.ts'
import type { Verdict } from './verdict.ts'

type Config = Pick<z.infer<typeof ChildAgentsConfig>, 'mode' | 'auto_complete'>

/** What the end of a session is guessed from. */
export type CompletionInput = {
  readonly evidence: Evidence
  readonly verdict: Verdict
  readonly config: Config
  /** What the agent itself said by `sm complete`; it ends the session elsewhere and no guess contradicts it. */
  readonly explicit?: 'completed' | 'error' | 'abandoned'
  /** The last milestone that the agent reported. */
  readonly milestone?: { readonly message: string; readonly progressPercent?: number }
  readonly runningChildren?: number
  /** When the watching last began anew; silence before it proves nothing. */
  readonly resumedAt?: number
}

/** One sign for or against; a veto has no points and outweighs them all. */
type CompletionSign = {
  readonly sign: string
  readonly points: number
  readonly isVeto: boolean
  readonly says: string
}

type Completion = {
  /** From 0 to 100. */
  readonly score: number
  readonly isComplete: boolean
  /** Whether the parent must agree before anything ends. */
  readonly needsApproval: boolean
  readonly signs: readonly CompletionSign[]
}

/** So many points make a session complete. No single sign reaches it, and neither does silence with one other. */
export const enoughPoints = 70
const points = { ended: 30, claimed: 40, silent: 25, worked: 10, reported: 5, milestone: 25 } as const

/** Whether a session that was not ended by a word of its own looks complete. */
export function completionScore(input: CompletionInput, now: number): Completion {
  const { config } = input
  const needsApproval = config.mode === 'supervised' || config.auto_complete.require_parent_approval
  const isOff = config.mode === 'manual' || !config.auto_complete.enabled
  if (isOff) {
    const signs = [
      veto('off', config.mode === 'manual' ? 'manual mode never detects an end' : 'detection is off'),
    ]
    return { score: 0, isComplete: false, needsApproval, signs }
  }
  const signs = [...vetoesOf(input), ...pointsOf(input, now)]
  const score = Math.min(
    100,
    signs.reduce((sum, sign) => sum + sign.points, 0),
  )
  const isComplete = score >= enoughPoints && !signs.some((sign) => sign.isVeto)
  return { score, isComplete, needsApproval, signs }
}

const veto = (sign: string, says: string): CompletionSign => ({ sign, points: 0, isVeto: true, says })
const plus = (sign: keyof typeof points, says: string): CompletionSign => ({
  sign,
  points: points[sign],
  isVeto: false,
  says,
})

function vetoesOf({ verdict, explicit, runningChildren = 0 }: CompletionInput): readonly CompletionSign[] {
  const { lifecycle, waitingFor, health } = verdict
  return [
    ...(explicit ? [veto('explicit', `the agent itself said ${explicit}`)] : []),
    ...(lifecycle === 'idle' ? [] : [veto('lifecycle', `it is ${lifecycle}`)]),
    ...(waitingFor ? [veto('waiting', `it waits for ${waitingFor}`)] : []),
    ...(health === 'ok' ? [] : [veto('health', `its health is ${health}`)]),
    ...(runningChildren > 0 ? [veto('children', `${runningChildren} of its children are running`)] : []),
  ]
}

function pointsOf(input: CompletionInput, now: number): readonly CompletionSign[] {
  const { evidence, config, milestone, resumedAt } = input
  const { idle_timeout, detect_completion_phrases, completion_patterns } = config.auto_complete
  const { last } = evidence
  const turn = turnOf(evidence, timingAt({ now, idleAfterMs: idle_timeout * 1000 }))
  // An interrupted or failed turn, and one of which no end was told, is no finished work.
  if (turn.state !== 'over' || turn.how !== 'ended') return [veto('turn', 'no turn ended by itself')]
  // Only the CLI's own word for the end tells what still works in the background.
  if (timeOf(last['turn-end']) < turn.since) return [veto('turn', 'the CLI did not say that the turn ended')]
  const shown = latest<Sighting>([last['screen-working'], last['screen-dialog'], last['screen-calm']])
  if (shown && shown !== last['screen-calm'] && shown.at > turn.since)
    return [veto('screen', 'the screen shows work after the end of the turn')]
  const text = lastWords(evidence)
  if (text === undefined) return [veto('text', 'the turn ended without any text')]
  const claims = claimsOf(text, completion_patterns)
  const blocker = blockerOf(text)
  const silentMs = now - Math.max(turn.since, resumedAt ?? turn.since)
  // A note of the CLI to itself ends work that was begun by the prompt before it.
  const asked = last.prompt?.origin === 'person' ? last.prompt : last.ready
  const isWorked = Math.max(timeOf(last['tool-start']), timeOf(last['tool-end'])) > timeOf(asked)
  const isMarked = milestone !== undefined && isFinal(milestone, completion_patterns)
  return [
    plus('ended', 'its turn ended by itself, with nothing left in the background'),
    ...(blocker === undefined
      ? [plus('reported', 'its last message leaves nothing open')]
      : [veto('text', blocker)]),
    ...(claims.denied > 0
      ? [veto('denied', 'its last message says that it is not, or not fully, complete')]
      : []),
    ...(detect_completion_phrases && claims.affirmed > 0
      ? [plus('claimed', 'its last message says so')]
      : []),
    ...(isWorked ? [plus('worked', 'it has used tools')] : []),
    ...(isMarked ? [plus('milestone', 'its last milestone says so')] : []),
    ...(silentMs >= idle_timeout * 1000 ? [plus('silent', `nothing happened for ${idle_timeout} s`)] : []),
  ]
}

/** What the agent said at the end of this turn; words from before its last step do not count. */
function lastWords({ last }: Evidence): string | undefined {
  const before = latest<Sighting>([
    last.prompt,
    last['tool-start'],
    last['tool-end'],
    last.ready,
    last.switched,
  ])
  const { text } = last
  return text && text.at >= timeOf(before) && text.text.trim() !== '' ? text.text : undefined
}

const isFinal = (
  { message, progressPercent }: NonNullable<CompletionInput['milestone']>,
  patterns: readonly string[],
): boolean => {
  const { affirmed, denied } = claimsOf(message, patterns)
  return progressPercent === 100 || (affirmed > 0 && denied === 0)
}

const surePoints = 85

/** A guessed end as it is recorded: what decided, on which signs, and how sure. */
export function detectionRecord({ score, signs }: Completion): Detection {
  const found = signs.filter(({ points }) => points > 0)
  const has = (name: string) => found.some(({ sign }) => sign === name)
  return {
    detector: has('claimed') ? 'phrase' : has('milestone') ? 'milestone' : 'idle',
    confidence: score >= surePoints ? 'high' : 'medium',
    score,
    evidence: found.map(({ sign, says }) => ({ signal: sign, detail: says })),
  }
}
