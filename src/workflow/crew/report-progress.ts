import type { Flow } from '../../ports/durable.ts'
import type { Attempt } from './carry-out.ts'
import type { Conversation } from './conversation.ts'
import type { CrewInput, CrewParts } from './crew-parts.ts'

/** A task that takes no longer is not reported on before its end. */
const quietMs = 2 * 60_000

type Reporting = {
  readonly parts: CrewParts
  readonly talk: Conversation
  readonly flow: Flow
  readonly input: CrewInput
}
type Reported = { readonly attempt: Attempt; readonly orchestrator: string; readonly start: string }

/** Tells what a long task has changed so far, again and again, as long as it is under way. */
export async function whileReporting<T>(
  reporting: Reporting,
  reported: Reported,
  act: () => Promise<T>,
): Promise<T> {
  const over = new AbortController()
  const reports = report(reporting, reported, over.signal)
  try {
    return await act()
  } finally {
    over.abort()
    await reports
  }
}

async function report(
  { parts, talk, flow, input }: Reporting,
  reported: Reported,
  signal: AbortSignal,
): Promise<void> {
  const { attempt, orchestrator, start } = reported
  const { clock, branches } = parts
  const begunMs = clock.now()
  const everyMs = input.crew.limits.progressSeconds * 1000
  try {
    await clock.sleep(quietMs, signal)
    for (;;) {
      const { files } = await branches.changes(attempt.worktree.path, { from: start }, signal)
      const minutes = Math.floor((clock.now() - begunMs) / 60_000)
      await talk.mention(flow, {
        from: attempt.who.id,
        to: orchestrator,
        type: 'task_progress',
        payload: {
          task_id: attempt.work.task.task_id,
          current_step: `at work for ${minutes} min`,
          files_modified_so_far: files.map(({ path }) => path).slice(0, 100),
        },
      })
      await clock.sleep(everyMs, signal)
    }
  } catch (error) {
    // What goes wrong with a report must not end the work.
    if (!signal.aborted) parts.onBug(error, `progress of ${attempt.work.task.task_id}`)
  }
}
