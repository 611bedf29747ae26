import type { CheckRun, Skipped } from '../../contract/collaboration/crew-report.ts'
import { failedChecks, isBasicCheck, type RequiredCheck } from '../../core/delegation/required-checks.ts'
import type { Branches } from '../../ports/branches.ts'
import type { Checks } from '../../ports/checks.ts'
import type { Steps, WorkRoot } from '../../ports/durable.ts'
import { draftOf } from '../sessions/drafts.ts'
import { inSpareTree, type SpareTree } from './spare-tree.ts'

const outputChars = 4000

type Checking = {
  /** What the facts hang under. */
  readonly at: WorkRoot & { readonly taskId?: string }
  /** Between the words and the name of a step, where the same checks are run twice. */
  readonly steps?: string
  readonly checks: readonly RequiredCheck[]
  readonly commit: string
  readonly folder: string
  /** So long one of them may take. */
  readonly timeoutMs: number
  /** So long all of them together may take; the time of a daemon that was down is nobody's. */
  readonly limitMs?: number
}

/** Runs checks: tests and types each for as long as one may take, others only while there is time for them. */
export async function runChecks(
  runner: Checks,
  flow: Steps,
  { at, steps = '', checks, commit, folder, timeoutMs, limitMs = Infinity }: Checking,
): Promise<{ checks: CheckRun[]; skipped: Skipped[] }> {
  const runs: CheckRun[] = []
  const skipped: Skipped[] = []
  let spentMs = 0
  for (const check of checks) {
    const { name, command } = check
    if (!isBasicCheck(check) && spentMs > limitMs) {
      const because = 'the time for the review was used up'
      runs.push({ name, command, required: false, passed: null, because })
      skipped.push({ what: `the check ${name}`, why: because })
      continue
    }
    const run = await flow.step(`check${steps}:${name}`, async ({ signal, tell }): Promise<CheckRun> => {
      const ended = await runner.run(command, { folder, timeoutMs }, signal)
      const { passed, output, durationMs, exitCode } = ended
      const shown = { command, commit, output: output.slice(-outputChars), durationMs }
      tell(draftOf(at, passed ? 'test.passed' : 'test.failed', shown))
      const because = passed ? undefined : `it ended with ${exitCode ?? 'no'} exit code`
      return {
        name,
        command,
        required: true,
        passed,
        output: output.slice(-outputChars),
        duration_ms: durationMs,
        ...(because && { because }),
      }
    })
    runs.push(run)
    spentMs += run.duration_ms ?? 0
  }
  return { checks: runs, skipped }
}

/** The checks that work has to pass by itself, and where it is looked whether they failed before it. */
export type WorkChecks = {
  readonly commands: readonly RequiredCheck[]
  readonly timeoutMs: number
  readonly before: Omit<SpareTree, 'commit'>
}

type Checked = Pick<Checking, 'at' | 'folder' | 'commit'> & WorkChecks & { readonly start: string }

/**
 * The types and tests of a task that says it is done, in its own work tree. What failed before the task began as well
 * does not count against it: nobody could carry out anything in a project that is red.
 */
export async function checkWork(
  { branches, checks: runner }: { readonly branches: Branches; readonly checks: Checks },
  flow: Steps,
  { commands, start, before, ...work }: Checked,
): Promise<CheckRun[]> {
  const { checks: runs } = await runChecks(runner, flow, { ...work, checks: commands })
  const failed = failedChecks(runs).map(({ name }) => name)
  if (failed.length === 0) return runs
  const steps = '-before'
  const { checks: earlier } = await inSpareTree(branches, flow, {
    ...before,
    steps,
    commit: start,
    act: (folder) =>
      runChecks(runner, flow, {
        ...work,
        steps,
        checks: commands.filter(({ name }) => failed.includes(name)),
        commit: start,
        folder,
      }),
  })
  const red = new Set(failedChecks(earlier).map(({ name }) => name))
  return runs.map((run) =>
    red.has(run.name)
      ? { ...run, required: false, because: `${run.because}, and it already failed before the task began` }
      : run,
  )
}
