import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defaultMaxIterations } from '../../contract/session-file/message-payloads.ts'
import { afterAnswer, afterReview } from './after-review.ts'

const loop = { iterations: 0, maxIterations: defaultMaxIterations, onLimit: 'human_review' } as const

test('[COL-64, COL-65] changes are revised, a rejection is planned again, and both count', () => {
  expect(afterReview({ ...loop, verdict: 'approved' })).toEqual({ next: 'complete', iterations: 0 })
  expect(afterReview({ ...loop, verdict: 'changes_requested' })).toEqual({ next: 'revise', iterations: 1 })
  expect(afterReview({ ...loop, verdict: 'rejected', iterations: 1 })).toEqual({
    next: 'replan',
    iterations: 2,
  })
})

test.each(['human_review', 'abort', 'force_approve'] as const)(
  '[COL-66] at the limit it is %s, with the choice to record',
  (onLimit) => {
    expect(afterReview({ ...loop, onLimit, iterations: 2, verdict: 'changes_requested' })).toEqual({
      next: onLimit,
      iterations: 3,
      decision: {
        subject: 'approach',
        candidates: ['human_review', 'abort', 'force_approve'],
        choice: onLimit,
        reason: '3 of 3 rounds are used up, and the last review says changes_requested',
      },
    })
  },
)

test('[COL-65] however the verdicts fall, the loop ends at its limit', () => {
  const verdict = fc.constantFrom('changes_requested' as const, 'rejected' as const)
  fc.assert(
    fc.property(fc.infiniteStream(verdict), fc.integer({ min: 0, max: 6 }), (verdicts, maxIterations) => {
      let iterations = 0
      for (const each of verdicts) {
        const after = afterReview({ ...loop, verdict: each, iterations, maxIterations })
        iterations = after.iterations
        if (after.next === 'human_review') break
        expect(iterations).toBeLessThan(maxIterations)
      }
      expect(iterations).toBe(Math.max(1, maxIterations))
    }),
  )
})

test('[COL-66] a person can take the work, give it one more round, or stop', () => {
  expect(afterAnswer('force_approve', 'rejected')).toBe('force_approve')
  expect(afterAnswer('abort', 'rejected')).toBe('abort')
  expect(afterAnswer('iterate', 'rejected')).toBe('replan')
  expect(afterAnswer('iterate', 'changes_requested')).toBe('revise')
})
