import { expect, test } from 'vitest'
import { checkRun } from '../../../test/support/collaboration.ts'
import { checksOfTask, plannedChecks, requiredChecks, selfReview } from './required-checks.ts'

test('[COL-46] the checks of a crew count before those of a plan, and each name once', () => {
  const crew = { test: 'make test', custom: [{ name: 'lint', command: 'make lint' }] }
  const plan = {
    test: 'npm test',
    type_check: 'npx tsc',
    custom: [
      { name: 'lint', command: 'true' },
      { name: 'docs', command: 'make docs' },
      { name: 'docs', command: 'true' },
    ],
  }
  expect(requiredChecks(crew, plan)).toEqual([
    { name: 'tests', command: 'make test' },
    { name: 'lint', command: 'make lint' },
    { name: 'type_check', command: 'npx tsc' },
    { name: 'docs', command: 'make docs' },
  ])
  expect(requiredChecks({ typeCheck: 'tsc', custom: [] }, undefined)).toEqual([
    { name: 'type_check', command: 'tsc' },
  ])
  expect(plannedChecks(undefined)).toEqual([])
})

test('[COL-16][COL-42] a task has to pass the types, and the tests unless it needs none; other checks are for the whole', () => {
  const all = requiredChecks(
    { test: 'npm test', typeCheck: 'npx tsc', custom: [{ name: 'lint', command: 'npm run lint' }] },
    undefined,
  )
  const names = (testing_required: boolean) => checksOfTask(all, { testing_required }).map(({ name }) => name)
  expect(names(true)).toEqual(['tests', 'type_check'])
  expect(names(false)).toEqual(['type_check'])
})

const proud = { tests_run: true, tests_passed: true, type_check_passed: true, known_issues: ['slow'] }
const red = checkRun('tests', { command: 'npm test', passed: false, because: 'it ended with 1 exit code' })

test('[COL-16] what Muster ran counts before what a developer says of it', () => {
  expect(selfReview(proud, { checks: [red, checkRun('type_check')], isTestWanted: true })).toEqual({
    ...proud,
    tests_passed: false,
    known_issues: ['slow', 'the check tests failed (npm test): it ended with 1 exit code'],
  })
  expect(selfReview(undefined, { checks: [checkRun('tests')], isTestWanted: true })).toEqual({
    tests_run: true,
    tests_passed: true,
    type_check_passed: false,
  })
})

test('[COL-16] what was red before is said, and so is that there is nothing to run', () => {
  const before = selfReview(undefined, { checks: [{ ...red, required: false }], isTestWanted: true })
  expect(before?.known_issues).toEqual([expect.stringContaining('does not count against this task')])
  const unseen = { tests_run: false, tests_passed: false, type_check_passed: false }
  expect(selfReview(proud, { checks: [], isTestWanted: true })).toEqual({
    ...unseen,
    known_issues: ['slow', 'no tests were run by Muster, or seen to run'],
  })
  expect(selfReview(undefined, { checks: [], isTestWanted: true })).toMatchObject({ tests_run: false })
  expect(selfReview(proud, { checks: [], isTestWanted: false })).toEqual({
    ...unseen,
    known_issues: ['slow'],
  })
  expect(selfReview(undefined, { checks: [], isTestWanted: false })).toBeUndefined()
})
