import type { CheckRun, Skipped } from '../../contract/collaboration/crew-report.ts'
import { isBasicCheck, type RequiredCheck } from '../../core/delegation/required-checks.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Flow, FlowRoot } from '../../ports/durable.ts'
import type { Around } from './carry-out.ts'
import { reviewerMs } from './crew-parts.ts'

const outputChars = 4000

type Checking = {
  /** What the facts hang under. */
  readonly at: FlowRoot & { readonly taskId?: string }
  /** Between the words and the name of a step, where the same checks are run twice. */
  readonly steps?: string
  readonly checks: readonly RequiredCheck[]
  readonly commit: string
  readonly folder: string
  /** So long all of them together may take; the time of a daemon that was down is nobody's. */
  readonly limitMs?: number
}

/** Runs checks: tests and types each for as long as one may take, others only while there is time for them. */
export async function runChecks(
  { parts, input }: Around,
  flow: Flow,
  { at, steps = '', checks, commit, folder, limitMs = Infinity }: Checking,
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
    runs.push(run)
    spentMs += run.duration_ms ?? 0
  }
  return { checks: runs, skipped }
}
