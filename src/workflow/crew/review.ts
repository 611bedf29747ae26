import type { CrewRound } from '../../contract/collaboration/crew-report.ts'
import type { PlanTask } from '../../contract/collaboration/replies.ts'
import { settledFindings } from '../../core/collaboration/crew-report.ts'
import type { UnfinishedTask } from '../../core/delegation/judge-review.ts'
import type { RequiredCheck } from '../../core/delegation/required-checks.ts'
import type { CrewRun } from './crew-run.ts'
import { reviewRound } from './review-round.ts'

/** What is to be reviewed. */
export type Reviewable = {
  readonly number: number
  readonly tasks: readonly PlanTask[]
  readonly checks: readonly RequiredCheck[]
  readonly base: string
  readonly commit: string
  /** Tasks of which only a part is done. */
  readonly unfinished?: readonly UnfinishedTask[]
}

/** Has work reviewed, and takes note of what came of it. */
export function review(run: CrewRun, given: Reviewable): Promise<CrewRound> {
  const { number, commit, base, tasks } = given
  return run.stages.run('review', { key: `review-${number}`, inputCount: tasks.length }, async (at) => {
    const { files } = await run.flow.step(`changes-${number}`, ({ signal }) =>
      run.parts.branches.changes(run.input.repo.root, { from: base, to: commit }, signal),
    )
    const procedure = reviewRound({
      ...run.around(at),
      reviewers: run.reviewers,
    })
    const child = run.flow.child(`r${number}/review`, procedure, {
      number,
      commit,
      base,
      files,
      tasks,
      checks: given.checks,
      rounds: run.rounds,
      earlier: settledFindings(run.rounds).open,
      unfinished: given.unfinished ?? [],
    })
    const { round, mend, checks, skipped } = await child.result()
    run.mend = mend
    run.rounds.push(round)
    run.checks = checks
    run.skipped.push(...skipped)
    return { value: round, count: round.findings.length }
  })
}
