import { expect, test } from 'vitest'
import { checkRun } from '../../../test/support/collaboration.ts'
import { selfReview } from './required-checks.ts'

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
  expect(selfReview(proud, { checks: [], isTestWanted: true })).toEqual({
    ...proud,
    known_issues: ['slow', 'no command is known that runs the tests, so Muster ran none'],
  })
  expect(selfReview(undefined, { checks: [], isTestWanted: true })).toMatchObject({ tests_run: false })
  expect(selfReview(proud, { checks: [], isTestWanted: false })).toBe(proud)
  expect(selfReview(undefined, { checks: [], isTestWanted: false })).toBeUndefined()
})
