import type { Draft, PayloadOf } from '../../contract/event.ts'
import type { ReviewerOutput, ReviewFinding } from '../../contract/session-file/outputs.ts'
import { openFindings, strictestVerdict, type UnfinishedTask } from '../delegation/judge-review.ts'
import { whatIsMissing } from '../delegation/task-failure.ts'
import type { OutgoingMessage } from './message-protocol.ts'

type Verdict = ReviewerOutput['verdict']

/** The rounds of work and review of one session, as far as what comes next depends on them. */
export type ReviewRounds = {
  /** How many were begun. */
  readonly number: number
  readonly isOpen: boolean
  /** Reviews that were asked for in this round, and the verdicts that were given. */
  readonly asked: number
  readonly verdicts: readonly Verdict[]
  /** What those reviews found. */
  readonly found: readonly ReviewFinding[]
  /** Tasks of this round of which only a part is done. */
  readonly unfinished: readonly UnfinishedTask[]
  /** What the round before left open; nothing once work was approved. */
  readonly earlier: readonly ReviewFinding[]
}

export const noRounds: ReviewRounds = {
  number: 0,
  isOpen: false,
  asked: 0,
  verdicts: [],
  found: [],
  unfinished: [],
  earlier: [],
}

type Fact = Pick<Draft, 'type' | 'payload'>

/** The rounds after one more fact. The first work after a closed round opens the next; whoever writes decides that. */
export function roundsAfter(rounds: ReviewRounds, fact: Fact): ReviewRounds {
  const { type, payload } = fact as Draft
  if (type === 'loop.round.started')
    return { ...noRounds, number: payload.round, isOpen: true, earlier: rounds.earlier }
  if (type === 'loop.round.completed') return closed(rounds, payload.verdict)
  return type === 'agent.message.created' ? afterMessage(rounds, payload) : rounds
}

/** One that ended without a verdict found nothing, so what was open before it is open still. */
function closed(rounds: ReviewRounds, verdict: Verdict | undefined): ReviewRounds {
  const { number, found, earlier } = rounds
  const left = verdict === undefined ? earlier : verdict === 'approved' ? [] : openFindings(found)
  return { ...noRounds, number, earlier: left }
}

function afterMessage(rounds: ReviewRounds, message: PayloadOf<'agent.message.created'>): ReviewRounds {
  const { type, payload: said } = { ...message, type: message.messageType } as unknown as OutgoingMessage
  switch (type) {
    case 'review_request':
      return { ...rounds, asked: rounds.asked + 1 }
    case 'task_completion': {
      const others = rounds.unfinished.filter(({ task_id }) => task_id !== said.task_id)
      const own = said.status === 'partial' ? [{ task_id: said.task_id, why: whatIsMissing(said) }] : []
      return { ...rounds, unfinished: [...others, ...own] }
    }
    case 'review_result':
      return {
        ...rounds,
        verdicts: [...rounds.verdicts, said.verdict],
        found: [...rounds.found, ...(said.findings ?? [])],
      }
    default:
      return rounds
  }
}

/** What a review is told of the rounds before it, and its place among those of its own. */
export type ReviewPlace = {
  readonly round: number
  /** Sets its findings apart from those of another review of the same round. */
  readonly by?: string
  readonly earlier: readonly ReviewFinding[]
  readonly unfinished: readonly UnfinishedTask[]
}

/** Where a review stands that is asked for now. */
export const reviewPlace = ({ number, isOpen, asked, earlier, unfinished }: ReviewRounds): ReviewPlace => ({
  round: isOpen ? number : number + 1,
  ...(isOpen && asked > 0 && { by: `${asked + 1}` }),
  earlier,
  unfinished: isOpen ? unfinished : [],
})

/** The verdict of a round in which nobody is asked any more; nothing when none was given. */
export const roundVerdict = ({ verdicts }: ReviewRounds): Verdict | undefined =>
  verdicts.length === 0 ? undefined : strictestVerdict(verdicts)
