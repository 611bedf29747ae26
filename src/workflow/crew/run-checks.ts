import type { CheckRun, Skipped } from '../../contract/collaboration/crew-report.ts'
import { checkNames, type RequiredCheck } from '../../core/collaboration/required-checks.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Flow } from '../../ports/durable.ts'
import type { Around } from './carry-out.ts'
import { reviewerMs } from './crew-parts.ts'

const outputChars = 4000

type Checking = {
  readonly checks: readonly RequiredCheck[]
  readonly commit: string
  readonly folder: string
  /** When the time of the review is over. */
  readonly untilMs: number
}

/** Required checks are run however long they take; others only while there is time. */
export async function runChecks(
  { parts, input, at }: Around,
  flow: Flow,
  { checks, commit, folder, untilMs }: Checking,
): Promise<{ checks: CheckRun[]; skipped: Skipped[] }> {
  const runs: CheckRun[] = []
  const skipped: Skipped[] = []
  for (const check of checks) {
    const { name, command } = check
    const run = await flow.step(`check:${name}`, async ({ signal, tell }): Promise<CheckRun> => {
      if (isOptional(check) && parts.clock.now() > untilMs)
        return { name, command, required: true, passed: null, because: 'the time for the review was over' }
      const timeoutMs = reviewerMs(input)
      const { passed, output, durationMs, exitCode } = await parts.checks.run(
        command,
        { folder, timeoutMs },
        signal,
      )
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
    const isSkipped = run.passed === null
    runs.push(isSkipped ? { ...run, required: false } : run)
    if (isSkipped) skipped.push({ what: `the check ${name}`, why: run.because ?? 'it was not run' })
  }
  return { checks: runs, skipped }
}

/** Tests and types are always checked; what else there is may be left out when the time is over. */
const isOptional = ({ name }: RequiredCheck): boolean =>
  name !== checkNames.test && name !== checkNames.typeCheck
