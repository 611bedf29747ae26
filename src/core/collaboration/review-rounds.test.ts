import { expect, test } from 'vitest'
import { reviewFinding } from '../../../test/support/collaboration.ts'
import { noRounds, type ReviewRounds, reviewPlace, roundsAfter, roundVerdict } from './review-rounds.ts'

type Fact = Parameters<typeof roundsAfter>[1]

const began = (round: number) => ({ type: 'loop.round.started', payload: { round } }) as Fact
const ended = (round: number, verdict?: string) =>
  ({ type: 'loop.round.completed', payload: { round, verdict } }) as Fact
const said = (messageType: string, payload: object) =>
  ({ type: 'agent.message.created', payload: { messageId: 'm', messageType, payload } }) as unknown as Fact
const asked = said('review_request', { review_id: 'r' })
const result = (verdict: string, ...findings: object[]) =>
  said('review_result', { review_id: 'r', task_id: 't', verdict, findings })
const reported = (task_id: string, status: string) =>
  said('task_completion', { task_id, status, summary: 's', blockers: ['b'] })
const fold = (...facts: readonly Fact[]): ReviewRounds => facts.reduce(roundsAfter, noRounds)

test('[MUS-367] the verdict of a round is the strictest one that was given in it', () => {
  expect(roundVerdict(fold(began(1), asked))).toBeUndefined()
  expect(roundVerdict(fold(began(1), asked, asked, result('approved'), result('rejected')))).toBe('rejected')
  expect(roundVerdict(fold(began(1), result('rejected'), ended(1, 'rejected'), began(2)))).toBeUndefined()
})

test('[MUS-367] a review is told of what is unfinished in its round and of what the round before left open', () => {
  const one = reviewFinding('one')
  const open = fold(began(1), reported('a', 'partial'), reported('b', 'completed'), asked)
  expect(reviewPlace(open)).toEqual({
    round: 1,
    by: '2',
    earlier: [],
    unfinished: [{ task_id: 'a', why: 'b' }],
  })
  expect(reviewPlace(roundsAfter(open, reported('a', 'completed'))).unfinished).toEqual([])
  const next = [began(1), result('changes_requested', one), ended(1, 'changes_requested')]
  expect(reviewPlace(fold(...next))).toEqual({ round: 2, earlier: [one], unfinished: [] })
  // Nobody judged the second round: what was open is open still.
  expect(reviewPlace(fold(...next, began(2), ended(2), began(3)))).toMatchObject({ round: 3, earlier: [one] })
  expect(reviewPlace(fold(...next, began(2), result('approved'), ended(2, 'approved'))).earlier).toEqual([])
})

test('[MUS-367] what is no fact of a round changes nothing', () => {
  const rounds = fold(began(1), asked)
  for (const fact of [
    said('feedback', {}),
    { type: 'progress.checkpoint', payload: { message: 'm' } } as Fact,
  ])
    expect(roundsAfter(rounds, fact)).toBe(rounds)
})
