import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkRun, planTask, reviewFinding, reviewReply } from '../../../test/support/collaboration.ts'
import { DeveloperOutput, ReviewerOutput } from '../../contract/session-file/outputs.ts'
import { developerOutcome, refusalOf, reviewerOutcome } from './delegation-outcome.ts'
import { developerInput } from './developer-work.ts'
import { readDeveloper } from './read-work-replies.ts'

const input = developerInput({ task: planTask('a'), attempts: [] })
const task = { kind: 'developer', taskId: 'a', input } as const
const review = {
  kind: 'reviewer',
  taskId: 'review-1',
  input: { review_id: 'review-1', task_id: 'a' },
} as const
const end = { status: 'completed', text: 'I did it.' } as const
const reply = { status: 'completed', summary: 'done' } as const
const proud = { tests_run: true, tests_passed: true, type_check_passed: true }
const work = { end, reply, files: [], outside: [], left: [] }

test.each<[string, Partial<Parameters<typeof developerOutcome>[1]>, object]>([
  ['done', {}, { state: 'completed', output: { task_id: 'a', status: 'completed', summary: 'done' } }],
  [
    'words that do not fit the form are kept, and it counts as unfinished',
    { reply: undefined },
    { state: 'partial', output: { summary: 'I did it.', blockers: [expect.stringContaining('the form')] } },
  ],
  [
    'too long',
    { reply: undefined, end: { status: 'timeout', text: '', reason: 'too long' } },
    { state: 'partial', failure: { kind: 'timeout' } },
  ],
  [
    'outside of its scope',
    { outside: ['x.ts'] },
    { state: 'failed', output: { status: 'failed' }, failure: { kind: 'scope_violation' } },
  ],
  [
    'a check that failed counts before its word',
    { reply: { ...reply, self_review: proud }, checks: [checkRun('tests', { passed: false })] },
    { state: 'partial', output: { status: 'partial', self_review: { tests_passed: false } } },
  ],
  [
    'checks without a command that runs tests',
    { checks: [] },
    { state: 'completed', output: { self_review: { tests_run: false, tests_passed: false } } },
  ],
])('[MUS-355][COL-16] what a task came to: %s', (_, seen, outcome) => {
  const found = developerOutcome(task, { ...work, ...seen })
  expect(found).toMatchObject(outcome)
  expect(DeveloperOutput.safeParse(found.output).success).toBe(true)
})

test('[MUS-355][COL-46] a check that did not run is never true, whatever a reviewer says', () => {
  const passed = fc.constantFrom(true, false, null)
  const names = fc.constantFrom('tests', 'type_check', 'lint')
  const ran = fc.array(fc.tuple(names, passed), { maxLength: 3 })
  fc.assert(
    fc.property(ran, fc.constantFrom('approved', 'changes_requested', 'rejected'), (runs, verdict) => {
      const checks = runs.map(([name, is]) => checkRun(name, { passed: is }))
      const words = reviewReply({ verdict, summary: 'All tests pass.' })
      const found = reviewerOutcome(review, { end, reply: words, checks, earlier: [], unfinished: [] })
      if (!('output' in found)) return expect.unreachable('it has an answer')
      const { verification } = found.output
      const isTrue = (name: string) => checks.find((check) => check.name === name)?.passed === true
      expect(verification).toMatchObject({
        tests_passed: isTrue('tests'),
        type_check_passed: isTrue('type_check'),
      })
      expect(ReviewerOutput.safeParse(found.output).success).toBe(true)
      if (checks.some((check) => check.passed !== true)) expect(found.output.verdict).not.toBe('approved')
    }),
  )
})

test('[MUS-355] a review without an answer approves nothing and says why', () => {
  const seen = { end, reply: undefined, checks: [], earlier: [reviewFinding('x')], unfinished: [] }
  expect(reviewerOutcome(review, seen)).toEqual({
    failure: { kind: 'exception', error: 'no answer that can be read' },
  })
  const late = { ...seen, end: { status: 'timeout', text: '', reason: 'too long' } as const }
  expect(reviewerOutcome(review, late)).toMatchObject({ failure: { kind: 'timeout', error: 'too long' } })
})

test('[MUS-355] an answer that does not fit is asked for again with what is wrong', () => {
  const refuse = refusalOf(readDeveloper)
  expect(refuse('All done!')).toContain('there is no JSON object')
  expect(refuse('{"status": "completed", "summary": "s"}')).toBeUndefined()
})
