import { expect, test } from 'vitest'
import { checkRun } from '../../../test/support/collaboration.ts'
import { failureOfChecks, failureWords, type TaskFailure, taskFailure } from './task-failure.ts'

type Tried = Parameters<typeof taskFailure>[0]
const tried = (more: Partial<Tried>): TaskFailure | undefined =>
  taskFailure({
    end: { status: 'completed' },
    reply: { status: 'completed', summary: 'Done.' },
    scope: ['src/a/**'],
    outside: [],
    left: [],
    ...more,
  })

test.each<[string, Partial<Tried>, TaskFailure['kind'] | undefined, string]>([
  ['good work', {}, undefined, ''],
  ['work that is partly done', { reply: { status: 'partial', summary: '' } }, undefined, ''],
  [
    'a file outside, whatever is said',
    { outside: ['b.ts'] },
    'scope_violation',
    'b.ts, which is outside of src/a/**',
  ],
  ['too much time', { end: { status: 'timeout' } }, 'timeout', 'too long'],
  [
    'a budget',
    { end: { status: 'failed', reason: 'it used 9 tokens of the 8 that developer may use', isSpent: true } },
    'resource_limit',
    '9 tokens',
  ],
  [
    'last words that speak of a budget',
    { end: { status: 'failed', reason: 'the tests of the budget module fail' } },
    'exception',
    'budget module',
  ],
  ['an error', { end: { status: 'failed', reason: 'no answer' } }, 'exception', 'no answer'],
  ['a conflict that is left', { left: ['a.ts'] }, 'exception', 'a.ts'],
  [
    'a developer that gives up',
    { reply: { status: 'failed', summary: 'I cannot.' } },
    'exception',
    'I cannot.',
  ],
])('[COL-63][COL-15] %s', (_, more, kind, words) => {
  const failure = tried(more)
  expect(failure?.kind).toBe(kind)
  expect(failure?.error ?? '').toContain(words)
})

test('[COL-16] work that does not pass its own checks has failed, with the command and the end of what it printed', () => {
  const red = checkRun('tests', {
    command: 'npm test',
    passed: false,
    because: 'it ended with 1 exit code',
    output: `${'.'.repeat(9000)}\n2 failed\n`,
  })
  const failure = failureOfChecks([red, checkRun('type_check')])
  expect(failure).toMatchObject({
    kind: 'exception',
    error: 'the check tests failed (npm test): it ended with 1 exit code',
    isPartial: true,
  })
  const words = failureWords(failure as TaskFailure)
  expect(words).toMatch(/npm test[^]*2 failed$/)
  expect(words.length).toBeLessThan(2200)
  expect(failureOfChecks([checkRun('tests'), { ...red, required: false }])).toBeUndefined()
  expect(failureOfChecks([])).toBeUndefined()
})
