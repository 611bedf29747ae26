import type { CheckRun } from '../../contract/collaboration/crew-report.ts'
import { checksOfTask, failedChecks, type RequiredCheck } from '../../core/delegation/required-checks.ts'
import type { Flow, FlowRoot } from '../../ports/durable.ts'
import type { Around, Attempt } from './carry-out.ts'
import { beforeEnding, folderOf } from './places.ts'
import { runChecks } from './run-checks.ts'
import { inSpareTree } from './spare-tree.ts'

type Checked = {
  readonly attempt: Attempt
  /** The span of the task. */
  readonly at: FlowRoot & { readonly taskId: string }
  readonly start: string
  readonly commit: string
}

/**
 * The types and tests of a task that says it is done, in its own work tree. What failed before the task began as well
 * does not count against it: nobody could carry out anything in a project that is red.
 */
export async function checkWork(around: Around, flow: Flow, checked: Checked): Promise<CheckRun[]> {
  const { attempt, at, commit } = checked
  const { checks: runs } = await runChecks(around, flow, {
    at,
    checks: checksOfTask(attempt.checks, attempt.work.task),
    commit,
    folder: folderOf(around.input, attempt.worktree.path),
  })
  const failed = failedChecks(runs)
  if (failed.length === 0) return runs
  const names = failed.map(({ name }) => name)
  const red = await failedBefore(around, flow, {
    ...checked,
    checks: attempt.checks.filter(({ name }) => names.includes(name)),
  })
  return runs.map((run) =>
    red.has(run.name)
      ? { ...run, required: false, because: `${run.because}, and it already failed before the task began` }
      : run,
  )
}

/** Which of these checks failed at the commit that the task began at. */
async function failedBefore(
  around: Around,
  flow: Flow,
  { attempt, at, start, checks }: Checked & { readonly checks: readonly RequiredCheck[] },
): Promise<ReadonlySet<string>> {
  const steps = '-before'
  const { checks: runs } = await inSpareTree(around, flow, {
    name: `${attempt.work.task.task_id}${beforeEnding}`,
    steps,
    commit: start,
    act: (folder) => runChecks(around, flow, { at, steps, checks, commit: start, folder }),
  })
  return new Set(failedChecks(runs).map(({ name }) => name))
}
