import { AppError } from '../contract/errors.ts'
import type { EventType } from '../contract/event.ts'
import type { SessionId } from '../contract/ids.ts'
import { evolve, hasEnded, type SessionState } from '../core/session/state.ts'
import type { JournalReader } from '../ports/journal.ts'
import type { IndexClient } from './index-client.ts'
import type { IndexThread } from './index-thread.ts'
import { pickEvents } from './pick-events.ts'

// A machine that is busy with starting agents is slow, not broken: waiting beats a refusal that has to be repeated.
const indexWaitMs = 10_000
const maxEvents = 1000

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
  const rows = await index.ask('events', { sessionId, types: telling, after: 0, limit: maxEvents })
  let state: SessionState | undefined
  for await (const event of pickEvents(
    journal,
    rows.map(({ seq }) => seq),
  ))
    state = evolve(state, event, event.recordedAt)
  return state && hasEnded(state) ? { ...state, open: new Map(), queue: [], asks: [] } : undefined
}
