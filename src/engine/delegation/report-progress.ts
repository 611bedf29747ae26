import { linked } from '../../contract/linked.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Steps } from '../../ports/durable.ts'
import type { Conversation } from './conversation.ts'
import { maxRetries } from './deliver-work.ts'

/** A task that takes no longer is not reported on before its end. */
const quietMs = 2 * 60_000

/** After so many reports that show nothing new the developer is asked how it stands. */
const sameReports = 4

export type Reporting = {
  readonly clock: Clock
  readonly talk: Conversation
  readonly steps: Steps
  readonly onBug: (error: unknown, where: string) => void
}

export type Reported = {
  readonly taskId: string
  readonly from: string
  readonly to: string
  readonly everyMs: number
  /** Its agent has not ended; after that its work is checked. */
  readonly isAtWork: () => boolean
  /** What was changed so far; the sign is another one when something was changed since. */
  readonly look: (
    signal: AbortSignal,
  ) => Promise<{ readonly files: readonly string[]; readonly sign: string }>
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
  { clock, talk, steps, onBug }: Reporting,
  reported: Reported,
  signal: AbortSignal,
): Promise<void> {
  const { taskId: task_id, from, to, everyMs, isAtWork, look } = reported
  const begunMs = clock.now()
  let last = ''
  let same = 0
  const one = async () => {
    const { files, sign } = await look(signal)
    same = sign === last ? same + 1 : 0
    last = sign
    const minutes = Math.floor((clock.now() - begunMs) / 60_000)
    await talk.mention(steps, {
      from: to,
      to: from,
      type: 'task_progress',
      payload: {
        task_id,
        current_step: `${isAtWork() ? 'at work for' : 'being checked after'} ${minutes} min`,
        files_modified_so_far: files.slice(0, 100),
      },
    })
    if (same > 0 && same % sameReports === 0) await askForState({ talk, steps }, reported, same * everyMs)
  }
  // What goes wrong with a report must not end the work, nor the reports after it.
  let failures = 0
  for (let waitMs = quietMs; failures <= maxRetries; waitMs = everyMs) {
    using waiting = linked(signal)
    const stop = () => waiting.abort()
    steps.signal.addEventListener('abort', stop, { once: true, signal: waiting.signal })
    await clock.sleep(waitMs, waiting.signal).catch(() => {})
    if (signal.aborted || steps.signal.aborted) return
    try {
      await one()
      failures = 0
    } catch (error) {
      if (signal.aborted || steps.signal.aborted) return
      failures += 1
      onBug(error, `progress of ${task_id}`)
    }
  }
}

/** Asks for the state of a task whose work stands still; what is known of it is the answer. */
async function askForState(
  { talk, steps }: Pick<Reporting, 'talk' | 'steps'>,
  { taskId, from, to, isAtWork }: Reported,
  forMs: number,
): Promise<void> {
  const query = await talk.mention(steps, {
    from,
    to,
    type: 'status_query',
    payload: { subject_id: taskId },
  })
  await talk.mention(steps, {
    from: to,
    to: from,
    type: 'status_response',
    replyTo: query,
    payload: {
      state: 'working',
      detail: `${isAtWork() ? 'its agent has not ended' : 'its checks have not ended'}, and nothing has changed in its work for ${Math.round(forMs / 1000)} s`,
    },
  })
}
