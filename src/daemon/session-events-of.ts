import { AppError } from '../contract/errors.ts'
import type { AgentEvent } from '../contract/event.ts'
import type { SessionId } from '../contract/ids.ts'
import type { JournalReader } from '../ports/journal.ts'
import type { IndexClient } from './index-client.ts'
import type { IndexThread } from './index-thread.ts'
import { listEvents } from './list-events.ts'

type Deps = { readonly journal: JournalReader; readonly index: IndexClient; readonly thread: IndexThread }

const pageOf = 1000

/** Reads the facts of a session of some types, oldest first, up to what is written when it is asked. */
export const sessionEventsOf = (deps: Deps) =>
  async function* (sessionId: SessionId, types: readonly AgentEvent['type'][]): AsyncIterable<AgentEvent> {
    // Whoever read less than all would do again what was done.
    if (!(await deps.thread.reached(deps.journal.watermark(), new AbortController().signal)))
      throw new AppError('unavailable', 'the daemon is stopping; try again')
    for (let after = 0; ; ) {
      const { events } = await listEvents(deps, { sessionId, type: types.join(','), after, limit: pageOf })
      yield* events
      if (events.length < pageOf) return
      after = events.at(-1)?.seq ?? after
    }
  }
