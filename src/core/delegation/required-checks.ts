import type * as z from 'zod'
import type { CheckRun } from '../../contract/collaboration/crew-report.ts'
import type { PlanChecks, PlanTask } from '../../contract/collaboration/replies.ts'
import type { CrewChecks } from '../../contract/crew.ts'
import type { SelfReview } from '../../contract/session-file/outputs.ts'

/** A command that has to succeed before work can be approved. */
export type RequiredCheck = { readonly name: string; readonly command: string }

/** The names of the two checks that the session file knows; every other check is a custom one. */
export const checkNames = { test: 'tests', typeCheck: 'type_check' } as const

/** The checks of a crew and of a plan together; of two with one name the crew's counts, which a person wrote. */
export function requiredChecks(crew: CrewChecks, plan: PlanChecks | undefined): RequiredCheck[] {
  const own = plannedChecks({ ...crew, type_check: crew.typeCheck })
  const names = new Set(own.map((check) => check.name))
  return [...own, ...plannedChecks(plan).filter((check) => !names.has(check.name))]
}

/** Tests and types: without them work does not count as done, however long they take. */
export const isBasicCheck = ({ name }: Pick<RequiredCheck, 'name'>): boolean =>
  name === checkNames.test || name === checkNames.typeCheck

/** What one task has to pass by itself: the types, and the tests where it needs them. */
export const checksOfTask = (
  checks: readonly RequiredCheck[],
  task: Pick<PlanTask, 'testing_required'>,
): RequiredCheck[] =>
  checks.filter((check) => isBasicCheck(check) && (task.testing_required || check.name !== checkNames.test))

/** The checks of a plan by name; a name that is there twice counts once. */
export function plannedChecks(checks: PlanChecks | undefined): RequiredCheck[] {
  const all = [
    ...checkNamed(checkNames.test, checks?.test),
    ...checkNamed(checkNames.typeCheck, checks?.type_check),
    ...(checks?.custom ?? []),
  ]
  return all.filter(({ name }, i) => all.findIndex((other) => other.name === name) === i)
}

const checkNamed = (name: string, command: string | undefined): RequiredCheck[] =>
  command === undefined ? [] : [{ name, command }]

/** A check that failed, in a few words. */
export const failedCheckWords = ({ name, command, because }: CheckRun): string =>
  `the check ${name} failed${command === undefined ? '' : ` (${command})`}${because === undefined ? '' : `: ${because}`}`

/** Required checks that did not pass; one that did not run did not pass either. */
export const failedChecks = (checks: readonly CheckRun[]): CheckRun[] =>
  checks.filter(({ required, passed }) => required && passed !== true)

/** Why a check forbids an approval. */
export const checkReason = ({ name, passed, because }: CheckRun): string =>
  passed === null
    ? `the required check ${name} did not run${because === undefined ? '' : `: ${because}`}`
    : `the required check ${name} failed`

type SelfReviewed = z.infer<typeof SelfReview>

type Shown = {
  /** What Muster ran on the work, or saw its developer run. */
  readonly checks: readonly CheckRun[]
  readonly isTestWanted: boolean
}

const nobodyRan: SelfReviewed = { tests_run: false, tests_passed: false, type_check_passed: false }

/** What is known of the checks of a developer: nothing is true because it says so, only what ran is. */
export function selfReview(
  said: SelfReviewed | undefined,
  { checks, isTestWanted }: Shown,
): SelfReviewed | undefined {
  const tests = checks.find(({ name }) => name === checkNames.test)
  const types = checks.find(({ name }) => name === checkNames.typeCheck)
  const issues = [
    ...checks.filter(({ passed }) => passed === false).map(issueOf),
    ...(isTestWanted && !tests ? ['no tests were run by Muster, or seen to run'] : []),
  ]
  if (!said && checks.length === 0 && issues.length === 0) return undefined
  const known = [...(said?.known_issues ?? []), ...issues]
  return {
    ...nobodyRan,
    ...(tests && { tests_run: true, tests_passed: tests.passed === true }),
    ...(types && { type_check_passed: types.passed === true }),
    ...(known.length > 0 && { known_issues: known }),
  }
}

const issueOf = (check: CheckRun): string =>
  `${failedCheckWords(check)}${check.required ? '' : '; it does not count against this task'}`
