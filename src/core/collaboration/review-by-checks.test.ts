import { expect, test } from 'vitest'
import { checkRun, reviewFinding } from '../../../test/support/collaboration.ts'
import { reviewByChecks } from './judge-review.ts'

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
