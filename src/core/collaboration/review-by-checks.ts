import type { CheckRun } from '../../contract/collaboration/crew-report.ts'
import type { ReviewerReply } from '../../contract/collaboration/replies.ts'
import { failedChecks } from './judge-review.ts'

/** Where nobody gives a verdict the required checks decide, and it is said why. */
export function reviewByChecks(checks: readonly CheckRun[], why?: string): ReviewerReply {
  const verdict = failedChecks(checks).length === 0 ? 'approved' : 'changes_requested'
  const nobody =
    why === undefined ? '' : `The reviewer gave no verdict (${why}); the required checks decide. `
  return { verdict, summary: `${nobody}${checkWords(checks)}`, findings: [] }
}

const checkWords = (checks: readonly CheckRun[]): string =>
  checks.length === 0
    ? 'There were no checks to run.'
    : checks
        .map(({ name, passed }) => `${name}: ${passed === null ? 'not run' : passed ? 'passed' : 'failed'}`)
        .join(', ')
