import { AppError } from '../contract/errors.ts'
import type { EventType } from '../contract/event.ts'
import type { SessionId } from '../contract/ids.ts'
import { evolve, hasEnded, type SessionState } from '../core/session/state.ts'
import type { JournalReader } from '../ports/journal.ts'
import type { IndexClient } from './index-client.ts'
import type { IndexThread } from './index-thread.ts'
import { pickEvents, sessionEvents } from './pick-events.ts'

// A machine that is busy with starting agents is slow, not broken: waiting beats a refusal that has to be repeated.
const indexWaitMs = 10_000
const pageEvents = 1000

/** What a session that is no longer in memory is made of; the rest of its events changes nothing here. */
const telling: EventType[] = [
  'session.started',
  'session.launched',
  'session.updated',
  'session.completed',
  'session.failed',
  'session.reopened',
]

/** A session that ended and left memory, folded again from its events; the index is given a moment to catch up. */
export async function endedSession(
  sessionId: SessionId,
  { journal, thread, index }: { journal: JournalReader; thread: IndexThread; index: IndexClient },
): Promise<SessionState | undefined> {
  if (!(await thread.reached(journal.watermark(), AbortSignal.timeout(indexWaitMs))))
    throw new AppError(
      'unavailable',
      'the index is still catching up, so it is not known whether the session ended; try again',
    )
  let state: SessionState | undefined
  for await (const event of sessionEvents({ journal, index }, sessionId, telling))
    state = evolve(state, event, event.recordedAt)
  if (!state || !hasEnded(state)) return undefined
  const milestones = await lastMilestone(sessionId, { journal, index })
  return { ...state, open: new Map(), queue: [], asks: [], ...(milestones > 0 && { milestones }) }
}

/** The number of its last milestone; where that was written before they had numbers, how many there are. */
async function lastMilestone(
  sessionId: SessionId,
  { journal, index }: { journal: JournalReader; index: IndexClient },
): Promise<number> {
  const types: EventType[] = ['progress.checkpoint']
  const [last] = await index.ask('events', { sessionId, types, limit: 1 })
  if (!last) return 0
  for await (const event of pickEvents(journal, [last.seq]))
    if (event.type === 'progress.checkpoint' && event.payload.number !== undefined)
      return event.payload.number
  let count = 0
  for (let after = 0; ; ) {
    const rows = await index.ask('events', { sessionId, types, after, limit: pageEvents })
    count += rows.length
    if (rows.length < pageEvents) return count
    after = rows.at(-1)?.seq ?? after
  }
}
