import type { DeveloperOutput, ReviewerOutput } from '../contract/session-file/outputs.ts'
import { isUnverified, verificationOf } from '../core/delegation/read-outputs.ts'
import { checkNames } from '../core/delegation/required-checks.ts'
import { developerChecks } from '../core/delegation/seen-checks.ts'
import { commandOf, isShell } from '../core/delegation/tool-category.ts'
import type { CallEvents } from './call-events.ts'
import { textOf } from './event-records.ts'
import type { OwnerRecord } from './owners.ts'

/** The checks that were seen to run on an agent's work, and how the last run of each came out. */
type SeenChecks = { readonly tests: boolean | undefined; readonly type_check: boolean | undefined }

/** What Muster ran counts before what the agent was seen to run; its own word counts for nothing. */
export function seenChecks({ checks, calls }: Pick<OwnerRecord, 'checks' | 'calls'>): SeenChecks {
  const seen = kindsOf(calls.flatMap(commandIn))
  let unnamed: boolean | undefined
  for (const { type, payload } of checks) {
    const hasPassed = type === 'test.passed'
    const kinds = kindsOf([commandRun(textOf(payload.command ?? ''), hasPassed)])
    if (kinds.size === 0) unnamed = hasPassed
    for (const [kind, isPassed] of kinds) seen.set(kind, isPassed)
  }
  // A command that does not say what it checks is whichever of the two no other one is.
  return {
    tests: seen.get(checkNames.test) ?? unnamed,
    type_check: seen.get(checkNames.typeCheck) ?? unnamed,
  }
}

const kindsOf = (commands: Parameters<typeof developerChecks>[0]): Map<string, boolean> =>
  new Map(developerChecks(commands).map(({ name, passed }) => [name, passed === true]))

/** What a call ran to its end; one that was denied ran nothing. */
function commandIn({ started, ended }: CallEvents) {
  const hasRun = ended?.type === 'tool.call.completed' || ended?.type === 'tool.call.failed'
  if (!started || !hasRun || !isShell(started.payload.tool)) return []
  return [commandRun(commandOf(started.payload.params), ended.type === 'tool.call.completed')]
}

const commandRun = (command: string, hasPassed: boolean) => ({ command, exitCode: hasPassed ? 0 : 1 })

/** A developer's output in which no check is called passed that was not seen to pass. */
export function verifiedWork(output: DeveloperOutput, seen: SeenChecks): DeveloperOutput {
  const { self_review: said, ...rest } = output
  if (!said) {
    const hasRun = seen.tests !== undefined || seen.type_check !== undefined
    return hasRun ? { ...rest, self_review: shownBy(seen) } : output
  }
  const shown = shownBy(seen)
  const review = {
    ...said,
    tests_run: said.tests_run && shown.tests_run,
    tests_passed: said.tests_passed && shown.tests_passed,
    type_check_passed: said.type_check_passed && shown.type_check_passed,
  }
  const isSame = flags.every((flag) => review[flag] === said[flag])
  if (isSame) return output
  const isEmpty = flags.every((flag) => !review[flag]) && !review.known_issues?.length
  return {
    ...rest,
    ...(!isEmpty && { self_review: review }),
    original_self_review: output.original_self_review ?? said,
  }
}

const flags = ['tests_run', 'tests_passed', 'type_check_passed'] as const

const shownBy = ({ tests, type_check }: SeenChecks) => ({
  tests_run: tests !== undefined,
  tests_passed: tests === true,
  type_check_passed: type_check === true,
})

/** A reviewer's output in which no check is called passed that was not seen to pass; which ones did not run stands beside. */
export function verifiedReview(output: ReviewerOutput, seen: SeenChecks): ReviewerOutput {
  const { verification: said, original_verification: before } = output
  const result = (isPassed: boolean, shown: boolean | undefined) =>
    shown === undefined
      ? ({ passed: null, error: 'nobody saw it run' } as const)
      : { passed: isPassed && shown }
  const results = {
    tests: result(said.tests_passed, seen.tests),
    type_check: result(said.type_check_passed, seen.type_check),
    custom: Object.fromEntries(
      Object.entries(said.custom_checks ?? {}).map(([name, isPassed]) => [name, result(isPassed, undefined)]),
    ),
  }
  if (!isUnverified(results)) return { ...output, verification: verificationOf(results) }
  return {
    ...output,
    verification: verificationOf(results),
    original_verification: { ...results, said: before ?? said },
  }
}
