import type { Flow } from '../../ports/durable.ts'
import type { Attempt } from './carry-out.ts'
import type { Conversation } from './conversation.ts'
import type { CrewInput, CrewParts } from './crew-parts.ts'
import { maxRetries } from './hand-over.ts'

/** A task that takes no longer is not reported on before its end. */
const quietMs = 2 * 60_000

/** After so many reports that show nothing new the developer is asked how it stands. */
const sameReports = 4

type Reporting = {
  readonly parts: Pick<CrewParts, 'clock' | 'branches' | 'onBug'>
  readonly talk: Conversation
  readonly flow: Flow
  readonly input: CrewInput
}
type Reported = {
  readonly attempt: Attempt
  readonly orchestrator: string
  readonly start: string
  /** Its agent has not ended; after that its work is checked. */
  readonly isAtWork: () => boolean
}

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
  const { attempt, orchestrator, start, isAtWork } = reported
  const { clock, branches, onBug } = parts
  const { task_id } = attempt.work.task
  const begunMs = clock.now()
  const everyMs = input.crew.limits.progressSeconds * 1000
  let last = ''
  let same = 0
  const one = async () => {
    const { files, diff } = await branches.changes(attempt.worktree.path, { from: start }, signal)
    same = diff === last ? same + 1 : 0
    last = diff
    const minutes = Math.floor((clock.now() - begunMs) / 60_000)
    await talk.mention(flow, {
      from: attempt.who.id,
      to: orchestrator,
      type: 'task_progress',
      payload: {
        task_id,
        current_step: `${isAtWork() ? 'at work for' : 'being checked after'} ${minutes} min`,
        files_modified_so_far: files.map(({ path }) => path).slice(0, 100),
      },
    })
    if (same > 0 && same % sameReports === 0)
      await askHowItStands(talk, flow, { ...reported, forMs: same * everyMs })
  }
  // What goes wrong with a report must not end the work, nor the reports after it.
  let failures = 0
  for (let waitMs = quietMs; failures <= maxRetries; waitMs = everyMs) {
    await clock.sleep(waitMs, signal).catch(() => {})
    if (signal.aborted) return
    try {
      await one()
      failures = 0
    } catch (error) {
      if (signal.aborted || flow.signal.aborted) return
      failures += 1
      onBug(error, `progress of ${task_id}`)
    }
  }
}

/** Asks for the state of a task whose work stands still; what is known of it is the answer. */
async function askHowItStands(
  talk: Conversation,
  flow: Flow,
  { attempt, orchestrator, isAtWork, forMs }: Reported & { readonly forMs: number },
): Promise<void> {
  const query = await talk.mention(flow, {
    from: orchestrator,
    to: attempt.who.id,
    type: 'status_query',
    payload: { subject_id: attempt.work.task.task_id },
  })
  await talk.mention(flow, {
    from: attempt.who.id,
    to: orchestrator,
    type: 'status_response',
    replyTo: query,
    payload: {
      state: 'working',
      detail: `${isAtWork() ? 'its agent has not ended' : 'its checks have not ended'}, and nothing has changed in its work tree for ${Math.round(forMs / 1000)} s`,
    },
  })
}
