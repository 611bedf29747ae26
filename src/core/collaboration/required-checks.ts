import type { PlanChecks, PlanTask } from '../../contract/collaboration/plan.ts'
import type { CrewChecks } from '../../contract/crew.ts'

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
export const isBasic = ({ name }: Pick<RequiredCheck, 'name'>): boolean =>
  name === checkNames.test || name === checkNames.typeCheck

/** What one task has to pass by itself: the types, and the tests where it needs them. */
export const checksOfTask = (
  checks: readonly RequiredCheck[],
  task: Pick<PlanTask, 'testing_required'>,
): RequiredCheck[] =>
  checks.filter((check) => isBasic(check) && (task.testing_required || check.name !== checkNames.test))

/** The checks of a plan by name; a name that is there twice counts once. */
export function plannedChecks(checks: PlanChecks | undefined): RequiredCheck[] {
  const all = [
    ...named(checkNames.test, checks?.test),
    ...named(checkNames.typeCheck, checks?.type_check),
    ...(checks?.custom ?? []),
  ]
  return all.filter(({ name }, i) => all.findIndex((other) => other.name === name) === i)
}

const named = (name: string, command: string | undefined): RequiredCheck[] =>
  command === undefined ? [] : [{ name, command }]
