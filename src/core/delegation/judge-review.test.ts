import { expect, test } from 'vitest'
import { checkRun, reviewFinding, reviewReply } from '../../../test/support/collaboration.ts'
import type { CheckRun } from '../../contract/collaboration/crew-report.ts'
import type { ReviewerReply } from '../../contract/collaboration/replies.ts'
import type { ReviewFinding } from '../../contract/session-file/outputs.ts'
import { findingsToFix } from '../collaboration/after-review.ts'
import { combineReviews, judgeReview, reviewByChecks, withUnanswered } from './judge-review.ts'

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

const none = { checks: [], earlier: [], unfinished: [] }
const verdictOf = (given: Partial<Parameters<typeof reviewByChecks>[0]>) =>
  reviewByChecks({ ...none, ...given }).judgement.verdict

test('[COL-68] where a reviewer is silent the checks decide; without any, nobody has looked', () => {
  expect(verdictOf({ why: 'it took too long', checks: [checkRun('tests')] })).toBe('approved')
  expect(verdictOf({ why: 'it took too long', checks: [checkRun('tests', { passed: false })] })).toBe(
    'changes_requested',
  )
  const skipped = checkRun('lint', { required: false, passed: null })
  for (const checks of [[], [skipped]])
    expect(reviewByChecks({ ...none, checks, why: 'it took too long' }).judgement).toEqual({
      verdict: 'changes_requested',
      said: 'changes_requested',
      reasons: ['nobody has judged the work, and no check was run'],
    })
  expect(verdictOf({})).toBe('approved')
})

test('[COL-33] what was found before is open when nobody says otherwise, and forbids an approval as ever', () => {
  const given = { why: 'it failed', checks: [checkRun('tests')] }
  for (const severity of ['critical', 'major'] as const) {
    const earlier = [reviewFinding('r1-x', { severity })]
    const { reply, judgement } = reviewByChecks({ ...none, ...given, earlier })
    expect(judgement).toMatchObject({
      verdict: 'changes_requested',
      reasons: [`r1-x is ${severity} and open`],
    })
    expect(reply.findings).toEqual(earlier)
  }
  const minor = [reviewFinding('r1-y', { severity: 'minor' })]
  expect(reviewByChecks({ ...none, ...given, earlier: minor })).toMatchObject({
    reply: { verdict: 'approved', findings: minor },
  })
})

test('[COL-12] work that is only partly done is not approved by its checks', () => {
  expect(verdictOf({ checks: [checkRun('tests')], unfinished: [{ task_id: 't', why: 'no end' }] })).toBe(
    'changes_requested',
  )
})
