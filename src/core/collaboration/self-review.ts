import type * as z from 'zod'
import type { CheckRun } from '../../contract/collaboration/crew-report.ts'
import type { SelfReview } from '../../contract/session-file/outputs.ts'
import { checkNames } from './required-checks.ts'
import { failedCheck } from './task-failure.ts'

type Review = z.infer<typeof SelfReview>

type Shown = {
  /** What Muster ran when the work was there. */
  readonly checks: readonly CheckRun[]
  readonly isTestWanted: boolean
}

const nobodyRan: Review = { tests_run: false, tests_passed: false, type_check_passed: false }

/** What a developer says of its own checks; where Muster ran them itself, what they showed. */
export function selfReview(said: Review | undefined, { checks, isTestWanted }: Shown): Review | undefined {
  const tests = checks.find(({ name }) => name === checkNames.test)
  const types = checks.find(({ name }) => name === checkNames.typeCheck)
  const issues = [
    ...checks.filter(({ passed }) => passed === false).map(issueOf),
    ...(isTestWanted && !tests ? ['no command is known that runs the tests, so Muster ran none'] : []),
  ]
  if (checks.length === 0 && issues.length === 0) return said
  const known = [...(said?.known_issues ?? []), ...issues]
  return {
    ...(said ?? nobodyRan),
    ...(tests && { tests_run: true, tests_passed: tests.passed === true }),
    ...(types && { type_check_passed: types.passed === true }),
    ...(known.length > 0 && { known_issues: known }),
  }
}

const issueOf = (check: CheckRun): string =>
  `${failedCheck(check)}${check.required ? '' : '; it does not count against this task'}`
