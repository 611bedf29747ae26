import type { ReviewerOutput, Verification } from '../contract/session-file/outputs.ts'
import { flagFrom } from '../core/json/field-kinds.ts'
import { compact, isRecord } from '../core/json/json-value.ts'

/** A check as it is held inside: whether it passed, and what it printed. */
export type CheckResult = { readonly passed: boolean; readonly output?: string; readonly error?: string }
export type CheckResults = {
  readonly tests: CheckResult
  readonly type_check: CheckResult
  readonly custom: Readonly<Record<string, CheckResult>>
}

/** The checks of a review with what they printed, where the file still has that beside its booleans. */
export function checkResults(output: ReviewerOutput): CheckResults {
  const { verification, original_verification: told } = output
  const original = isRecord(told) ? told : {}
  const custom = isRecord(original['custom']) ? original['custom'] : {}
  const flags = Object.entries(verification.custom_checks ?? {})
  return {
    tests: resultOf(verification.tests_passed, original['tests'] ?? original['tests_passed']),
    type_check: resultOf(
      verification.type_check_passed,
      original['type_check'] ?? original['type_check_passed'],
    ),
    custom: Object.fromEntries(
      flags.map(([name, passed]) => [name, resultOf(passed, custom[name] ?? original[name])]),
    ),
  }
}

/** The booleans of a file from results with what they printed. */
export function verificationOf({ tests, type_check, custom }: CheckResults): Verification {
  const checks = Object.entries(custom).map(([name, { passed }]) => [name, passed] as const)
  return {
    tests_passed: tests.passed,
    type_check_passed: type_check.passed,
    ...(checks.length === 0 ? {} : { custom_checks: Object.fromEntries(checks) }),
  }
}

function resultOf(passed: boolean, told: unknown): CheckResult {
  if (!isRecord(told) || flagFrom(told) !== passed) return { passed }
  const { output, error } = told
  return compact({
    passed,
    output: typeof output === 'string' ? output : undefined,
    error: typeof error === 'string' ? error : undefined,
  })
}
