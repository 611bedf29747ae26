import { expect, test } from 'vitest'
import { reviewFinding, reviewReply } from '../../../test/support/collaboration.ts'
import type { ReviewerReply } from '../../contract/collaboration/replies.ts'
import { combineReviews, withUnanswered } from './judge-review.ts'

const by = (name: string, more: Partial<ReviewerReply>) => ({ by: name, reply: reviewReply(more) })

test('[COL-69] of several reviews the strictest verdict counts, whoever speaks first', () => {
  const verdicts = ['approved', 'changes_requested', 'rejected'] as const
  for (const [i, one] of verdicts.entries())
    for (const [j, other] of verdicts.entries())
      expect(combineReviews(by('a', { verdict: one }), by('b', { verdict: other })).verdict).toBe(
        verdicts[Math.max(i, j)],
      )
})

test('[COL-69] one review alone stays as it is', () => {
  const reply = reviewReply({ findings: [reviewFinding('x')], addressed: ['y'] })
  expect(combineReviews({ by: 'a', reply })).toBe(reply)
})

test('[COL-69] findings of all are there, each once, as the strictest reader has it', () => {
  const combined = combineReviews(
    by('a', {
      findings: [reviewFinding('r1-x', { severity: 'minor' }), reviewFinding('r2-a-y')],
      addressed: ['r1-z'],
    }),
    by('b', {
      findings: [
        reviewFinding('r1-x', { severity: 'critical' }),
        reviewFinding('r1-z', { severity: 'suggestion' }),
        reviewFinding('r2-a-y', { severity: 'critical', fixed_in_iteration: 2 }),
      ],
      addressed: ['r1-w'],
      commendations: ['tidy'],
    }),
  )
  expect(combined.findings.map(({ finding_id, severity }) => [finding_id, severity])).toEqual([
    ['r1-x', 'critical'],
    ['r2-a-y', 'major'],
    ['r1-z', 'suggestion'],
  ])
  expect(combined).toMatchObject({ addressed: ['r1-w'], commendations: ['tidy'] })
  expect(combined.summary).toBe('a: It does what was asked.\nb: It does what was asked.')
})

test('[COL-69] where one of several was silent, what nobody answers stays open', () => {
  const earlier = [reviewFinding('r1-b-x'), reviewFinding('r1-b-y'), reviewFinding('r1-a-z')]
  const reply = reviewReply({ addressed: ['r1-b-y'], findings: [reviewFinding('r1-a-z')] })
  expect(withUnanswered(reply, earlier).findings.map(({ finding_id }) => finding_id)).toEqual([
    'r1-a-z',
    'r1-b-x',
  ])
})
