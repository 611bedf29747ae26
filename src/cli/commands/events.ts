import type { DataCommand } from '../command-module.ts'
import { sessionMeant } from '../current-session.ts'
import { followSessionEvents } from '../follow-session-events.ts'
import { parseSince } from '../parse-since.ts'
import { renderSessionEvent } from '../render/session-events.ts'

export const events: DataCommand<'events'> = {
  run: async function* ({ session, type: words, limit, follow, since }, io) {
    const id = sessionMeant(session, io)
    const filter = {
      id,
      limit: Math.max(1, limit),
      ...(words.length > 0 && { type: words.join(',') }),
      ...(since !== undefined && { since: parseSince(since, io.now()) }),
    }
    const client = await (await io.daemon()).client()
    const past = await client.listSessionEvents(filter, { signal: io.signal })
    if (limit > 0) yield* past.events
    if (follow) yield* followSessionEvents(client, { id, words, after: past.seq }, io)
  },
  render: renderSessionEvent,
}
