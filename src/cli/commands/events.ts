import type { DataCommand } from '../command-module.ts'
import { sessionMeant } from '../current-session.ts'
import { followSessionEvents } from '../follow-session-events.ts'
import { parseSince } from '../parse-since.ts'
import { renderSessionEvent } from '../render/session-events.ts'

// What comes between the two questions is known to both, also when only the last few are shown.
const seamEvents = 100

export const events: DataCommand<'events'> = {
  run: async function* ({ session, type: words, limit, follow, since }, io) {
    const id = sessionMeant(session, io)
    const filter = {
      id,
      limit: Math.max(limit, follow ? seamEvents : 1),
      ...(words.length > 0 && { type: words.join(',') }),
      ...(since !== undefined && { since: parseSince(since, io.now()) }),
    }
    const client = await (await io.daemon()).client()
    // What the list holds up to here is followed no more; it is asked for first, so that nothing falls between.
    const { seq: after } = follow ? await client.health({}, { signal: io.signal }) : { seq: 0 }
    const { events: past } = await client.listSessionEvents(filter, { signal: io.signal })
    yield* past.slice(Math.max(0, past.length - limit))
    if (!follow) return
    // What a full list left out is older than what was shown, and stays left out.
    const begun = past.length < filter.limit ? after : Math.max(after, (past[0]?.seq ?? 1) - 1)
    yield* followSessionEvents(client, { id, words, after: begun, known: past }, io)
  },
  render: renderSessionEvent,
}
