import { expect, test } from 'vitest'
import { checkRun } from '../../../test/support/collaboration.ts'
import { catalogue } from '../../contract/event.ts'
import {
  afterFailure,
  type FailureKind,
  failureOfChecks,
  failureWords,
  suggestedAction,
  type TaskFailure,
  taskFailure,
} from './task-failure.ts'

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
    'b.ts, which is outside src/a/**',
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

const limitMs = 600_000
const failure = (kind: FailureKind, attempt: number, more = {}) =>
  afterFailure({ kind, attempt, limitMs, scope: ['src/a/**'], canSplit: true, ...more })

test.each<[FailureKind, number, string, number]>([
  ['timeout', 1, 'retry', 2 * limitMs],
  ['timeout', 2, 'retry', 2 * limitMs],
  ['timeout', 3, 'abort', limitMs],
  ['exception', 1, 'retry', limitMs],
  ['exception', 2, 'abort', limitMs],
  ['scope_violation', 1, 'retry', limitMs],
  ['scope_violation', 2, 'abort', limitMs],
  ['resource_limit', 1, 'split', limitMs],
  ['resource_limit', 2, 'abort', limitMs],
])('[COL-63] %s at attempt %i: %s', (kind, attempt, action, nextMs) => {
  expect(failure(kind, attempt)).toMatchObject({ action, limitMs: nextMs })
})

test('[COL-63] where nobody can split a task, it should do less at a time', () => {
  expect(failure('resource_limit', 1, { canSplit: false })).toMatchObject({
    action: 'retry',
    feedback: expect.stringContaining('do less at a time'),
  })
})

test('[COL-63] a longer limit has an end, and is never shorter than before', () => {
  expect(failure('timeout', 1, { limitMs: 50 * 60_000 }).limitMs).toBe(60 * 60_000)
  expect(failure('timeout', 1, { limitMs: 90 * 60_000 }).limitMs).toBe(90 * 60_000)
})

test('[COL-63] work outside of its scope is refused with the right scope', () => {
  expect(failure('scope_violation', 1).feedback).toContain('change only src/a/**')
})

test('[COL-62] the architect decides within the limits, and the choice can be recorded', () => {
  const asked = { reply: { action: 'reassign', reason: 'another pair of eyes' } }
  const after = failure('timeout', 1, { asked })
  expect(after).toMatchObject({
    action: 'reassign',
    limitMs: 2 * limitMs,
    decision: { choice: 'reassign', reason: 'the architect decided: another pair of eyes' },
  })
  const said = (action: string) => ({ asked: { reply: { action, reason: 'x' } } })
  expect(failure('exception', 2, said('retry')).action).toBe('retry')
  expect(failure('timeout', 1, said('abort')).action).toBe('abort')
  const last = failure('timeout', 3, { asked })
  expect(last.action).toBe('abort')
  expect(last.decision.reason).toContain('3 attempts have failed')
  const silent = failure('exception', 1, { asked: { silent: 'there is no JSON object in the answer' } })
  expect(silent).toMatchObject({ action: 'retry', isByRules: true })
  expect(silent.decision.reason).toContain('there is no JSON object in the answer')
  expect([after, last, failure('exception', 1)].map(({ isByRules }) => isByRules)).toEqual([
    false,
    true,
    true,
  ])
  for (const { decision } of [silent, after, last, failure('exception', 1)])
    expect(catalogue['decision.made'].payload.safeParse(decision).success).toBe(true)
})

test('[COL-63] a failed task suggests what its kind asks for', () => {
  expect(suggestedAction('timeout', 1)).toBe('retry')
  expect(suggestedAction('resource_limit', 1)).toBe('reassign')
  expect(suggestedAction('exception', 2)).toBe('abort')
})
