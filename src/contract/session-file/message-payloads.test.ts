import { expect, test } from 'vitest'
import type * as z from 'zod'
import { example } from '../../../test/support/std-008.ts'
import { loosen } from '../../session-file/shape.ts'
import { defaultMaxIterations, messagePayloads } from './message-payloads.ts'
import { DeveloperInput, ReviewerInput } from './outputs.ts'

type Json = Record<string, unknown>
const at = '2026-01-26T10:00:00Z'
const [sub, review] = example().sub_sessions
const developed = sub?.output as Json
const reviewed = review?.output as Json

type Fit = { readonly good: readonly unknown[]; readonly bad: readonly unknown[] }

/** The payload of a message type takes what is good and refuses what is bad, strictly and loosely. */
function payloadFits(type: keyof typeof messagePayloads, { good, bad }: Fit): void {
  const schema: z.ZodType = messagePayloads[type]
  for (const payload of good) expect(schema.safeParse(payload).error).toBeUndefined()
  for (const payload of bad) expect(schema.safeParse(payload).success).toBe(false)
  // The loose twin must not lose a rule that spans several fields.
  for (const payload of bad) expect(loosen(schema).safeParse(payload).success).toBe(false)
}

test('[LOG-34, LOG-69] a task_assignment payload', () =>
  payloadFits('task_assignment', {
    good: [
      { task: { task_id: 't', task_description: 'd' }, priority: 'high', deadline: at, max_iterations: 3 },
    ],
    bad: [{ priority: 'high' }, { task: { task_description: 'd' } }, { task: 't' }],
  }))
test('[LOG-36] a task_progress payload', () =>
  payloadFits('task_progress', {
    good: [
      {
        task_id: 't',
        progress_percent: 40,
        current_step: 's',
        files_modified_so_far: [],
        estimated_remaining: '2m',
        blockers: [],
      },
    ],
    bad: [
      { progress_percent: 40 },
      { task_id: 't', progress_percent: 101 },
      { task_id: 't', progress_percent: -1 },
    ],
  }))
test('[LOG-37] a task_completion payload', () =>
  payloadFits('task_completion', {
    good: [{ task_id: 't', status: 'completed' }, developed],
    bad: [{ task_id: 't' }, { status: 'completed' }],
  }))
test('[LOG-38] a review_request payload', () =>
  payloadFits('review_request', {
    good: [
      { review_id: 'r', task_id: 't', files: ['a'] },
      {
        review_id: 'r',
        task_id: 't',
        scope: { files: ['a'], focus_areas: ['test_coverage'], ignore_patterns: [] },
        criteria: {
          must_pass_tests: true,
          must_pass_type_check: true,
          custom_checks: [{ name: 'n', command: 'c', expected_exit_code: 0 }],
        },
        context: {
          task_description: 'd',
          acceptance_criteria: [],
          previous_reviews: [{ review_number: 1, verdict: 'rejected', key_findings: [] }],
        },
      },
    ],
    bad: [{ review_id: 'r' }, { task_id: 't', files: 'a' }],
  }))
test('[LOG-39, LOG-70] a review_result payload', () =>
  payloadFits('review_result', {
    good: [{ review_id: 'r', verdict: 'approved' }, { task_id: 't', verdict: 'rejected' }, reviewed],
    bad: [{ verdict: 'approved' }, { review_id: 'r' }, { review_id: 'r', verdict: 'fine' }],
  }))
test('[LOG-40] a feedback payload', () =>
  payloadFits('feedback', {
    good: [
      { feedback_type: 'question', subject: 's', content: 'c', action_required: true, related_task_id: 't' },
    ],
    bad: [{ feedback_type: 'shout', subject: 's', content: 'c', action_required: true }, { content: 'c' }],
  }))
test('[LOG-41] a abort payload', () =>
  payloadFits('abort', {
    good: [{ scope: 'session', target_id: 't', reason: 'r', cleanup_required: false }],
    bad: [{ scope: 'all', target_id: 't' }],
  }))
test('[LOG-42] a acknowledgment payload', () =>
  payloadFits('acknowledgment', {
    good: [{ acknowledged_message_id: 'm', accepted: false, reason: 'r' }],
    bad: [{ accepted: true }],
  }))
test('[LOG-43] a status_query payload', () =>
  payloadFits('status_query', { good: [{ subject_id: 's' }], bad: [{}] }))
test('[LOG-43] a status_response payload', () =>
  payloadFits('status_response', { good: [{ state: 'running', detail: 'd' }], bad: [{ detail: 'd' }] }))

test('[LOG-34] three review rounds are allowed when an assignment does not say', () => {
  expect(defaultMaxIterations).toBe(3)
})

test('[LOG-35, COL-41, COL-42] a developer is told what to read, what it may change and what was tried before', () => {
  const input = {
    task_id: 't',
    task_description: 'd',
    context: {
      specs: ['spec.md', { path: 'p', reason: 'r', sections: ['2'] }],
      reference_files: ['a.ts'],
      previous_attempts: [{ attempt_number: 1, outcome: 'o', feedback: 'f' }],
    },
    constraints: { scope: ['src/**'], testing_required: true, must_not_break: ['x'], style_guide: 's' },
    acceptance_criteria: ['works'],
  }
  expect(DeveloperInput.parse(input)).toEqual(input)
})

test('[COL-44, COL-45] a reviewer is told the files, in either spelling, and what to look at', () => {
  for (const scope of ['scope', 'review_scope'])
    for (const area of ['security', 'performance', 'style', 'logic', 'error_handling', 'test_coverage'])
      expect(
        ReviewerInput.safeParse({ task_id: 't', [scope]: { files: ['a'], focus_areas: [area] } }).success,
      ).toBe(true)
  expect(
    ReviewerInput.safeParse({ task_id: 't', scope: { files: [], focus_areas: ['taste'] } }).success,
  ).toBe(false)
})
