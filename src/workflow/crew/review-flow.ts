import { requiredChecks } from '../../core/delegation/required-checks.ts'
import { announce } from './announce.ts'
import type { CrewRun, Ending } from './crew-run.ts'
import { review } from './review.ts'

/** Work that is there already goes to the reviewer; nothing is changed. */
export async function reviewFlow(run: CrewRun): Promise<Ending> {
  const { base, reviewed = base } = run.input.repo
  await announce(run, { script: run.input.request, fanOut: run.reviewers.length })
  const round = await review(run, {
    number: 1,
    base: run.input.repo.since ?? base,
    commit: reviewed,
    checks: requiredChecks(run.input.crew.checks, undefined),
    tasks: [],
  })
  return { outcome: round.verdict === 'approved' ? 'approved' : 'unapproved', summary: round.summary }
}
