import { expect, test } from 'vitest'
import { checkRun, reviewFinding, reviewReply } from '../../../test/support/collaboration.ts'
import type { CheckRun } from '../../contract/collaboration/crew-report.ts'
import type { ReviewFinding } from '../../contract/formats/std-008/reviewer.ts'
import { findingsToFix } from './after-review.ts'
import { judgeReview } from './judge-review.ts'

const approval = (findings: ReviewFinding[], checks: CheckRun[], earlier: ReviewFinding[] = []) =>
  judgeReview({ reply: reviewReply({ findings }), checks, earlier })

test('[COL-33] an approval with no finding that forbids it and all required checks passed counts', () => {
  const findings = [
    reviewFinding('a', { severity: 'minor' }),
    reviewFinding('b', { severity: 'suggestion' }),
    reviewFinding('c', { severity: 'critical', fixed_in_iteration: 1 }),
  ]
  const checks = [
    checkRun('tests'),
    checkRun('lint', { required: false, passed: false }),
    checkRun('slow', { required: false, passed: null }),
  ]
  expect(approval(findings, checks)).toEqual({ verdict: 'approved', said: 'approved', reasons: [] })
})

test.each<[string, ReviewFinding[], CheckRun[], string]>([
  ['a critical finding', [reviewFinding('x', { severity: 'critical' })], [], 'x is critical and open'],
  ['a major finding', [reviewFinding('x')], [], 'x is major and open'],
  ['a failed check', [], [checkRun('tests', { passed: false })], 'the required check tests failed'],
  [
    'a check that did not run',
    [],
    [checkRun('tests', { passed: null, because: 'it took too long' })],
    'the required check tests did not run: it took too long',
  ],
])('[COL-33, COL-46] an approval with %s is taken as changes_requested', (_, findings, checks, reason) => {
  expect(approval(findings, checks)).toEqual({
    verdict: 'changes_requested',
    said: 'approved',
    reasons: [reason],
  })
})

test('[COL-12] an approval of work that is only partly done does not count, and what is missing is to be mended', () => {
  const unfinished = [{ task_id: 't1', why: 'its tests are missing' }]
  const reply = reviewReply()
  expect(judgeReview({ reply, checks: [], earlier: [], unfinished })).toEqual({
    verdict: 'changes_requested',
    said: 'approved',
    reasons: ['t1 is only partly done: its tests are missing'],
  })
  expect(findingsToFix({ reply, checks: [], earlier: [], round: 2, unfinished })).toMatchObject([
    {
      finding_id: 'r2-unfinished-t1',
      severity: 'major',
      description: expect.stringContaining('tests are missing'),
    },
  ])
})

test('[COL-20] a critical finding of an earlier round has to be called mended', () => {
  const earlier = [reviewFinding('r1-x', { severity: 'critical' }), reviewFinding('r1-y')]
  expect(approval([], [], earlier)).toMatchObject({
    verdict: 'changes_requested',
    reasons: [expect.stringContaining('r1-x was critical')],
  })
  const reply = reviewReply({ addressed: ['r1-x'] })
  expect(judgeReview({ reply, checks: [], earlier }).verdict).toBe('approved')
})

test('[COL-33] other verdicts stay what they are', () => {
  for (const verdict of ['changes_requested', 'rejected'] as const)
    expect(
      judgeReview({
        reply: reviewReply({ verdict }),
        checks: [checkRun('t', { passed: false })],
        earlier: [],
      }),
    ).toEqual({ verdict, said: verdict, reasons: [] })
})
