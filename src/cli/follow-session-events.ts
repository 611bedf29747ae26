import type { Client } from '../client/client.ts'
import type { SessionEventView } from '../contract/session-views.ts'
import { ifReachable } from './if-reachable.ts'
import type { Io } from './io.ts'
import { news } from './news.ts'
import { toldEvents } from './state-events.ts'

const pageEvents = 1000

/** Which events of a session are followed, from where, and those after that point that are known already. */
export type Followed = {
  readonly id: string
  readonly words: readonly string[]
  readonly after: number
  readonly known: readonly SessionEventView[]
}

/** The events of a session as they come: its list is read when the stream says that there is something, each once. */
export async function* followSessionEvents(
  client: Client,
  { id, words, after, known }: Followed,
  io: Io,
): AsyncGenerator<SessionEventView> {
  const filter = { id, limit: pageEvents, ...(words.length > 0 && { type: words.join(',') }) }
  let told = new Set(known.map(({ seq }) => seq))
  // A list is put together from several sessions while events arrive: only what an answer reached before
  // this one was asked for is surely whole, so each look goes back to there and tells what is new.
  let whole = after
  let reached = after
  for await (const _ of news(client, { after, type: toldEvents.join(',') }, io)) {
    let from = whole
    while (true) {
      const asked = client.listSessionEvents({ ...filter, after: from }, { signal: io.signal })
      const page = await ifReachable(asked)
      if (page === undefined) break
      const { events, seq } = page
      for (const event of events) {
        if (told.has(event.seq)) continue
        told.add(event.seq)
        yield event
      }
      const last = events.at(-1)
      if (events.length < pageEvents || last === undefined) {
        whole = reached
        reached = Math.max(reached, seq)
        break
      }
      from = last.seq
    }
    told = new Set([...told].filter((seq) => seq > whole))
  }
}
