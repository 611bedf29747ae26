import type { CheckRun } from '../../contract/collaboration/crew-report.ts'
import type { ReviewerReply } from '../../contract/collaboration/replies.ts'
import type { ReviewFinding } from '../../contract/session-file/outputs.ts'
import { type Judgement, judgeReview, type UnfinishedTask } from './judge-review.ts'

type Unjudged = {
  readonly checks: readonly CheckRun[]
  /** Findings of earlier rounds that nobody has called mended. */
  readonly earlier: readonly ReviewFinding[]
  readonly unfinished: readonly UnfinishedTask[]
  /** Why those who were asked said nothing; nothing where nobody was to be asked. */
  readonly why?: string | undefined
}

/** Where nobody gives a verdict the required checks decide, and it is said why; what was found before stays open. */
export function reviewByChecks({ checks, earlier, unfinished, why }: Unjudged): {
  readonly reply: ReviewerReply
  readonly judgement: Judgement
} {
  const findings = [...earlier]
  const { reasons } = judgeReview({
    reply: { verdict: 'approved', findings },
    checks,
    earlier,
    unfinished,
  })
  const hasLooked = why === undefined || checks.some(({ passed }) => passed !== null)
  const all = [...reasons, ...(hasLooked ? [] : ['nobody has judged the work, and no check was run'])]
  const verdict = all.length === 0 ? 'approved' : 'changes_requested'
  const nobody =
    why === undefined ? '' : `The reviewer gave no verdict (${why}); the required checks decide. `
  return {
    reply: { verdict, summary: `${nobody}${checkWords(checks)}`, findings },
    judgement: { verdict, said: verdict, reasons: all },
  }
}

const checkWords = (checks: readonly CheckRun[]): string =>
  checks.length === 0
    ? 'There were no checks to run.'
    : checks
        .map(({ name, passed }) => `${name}: ${passed === null ? 'not run' : passed ? 'passed' : 'failed'}`)
        .join(', ')
