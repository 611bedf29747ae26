import type { Client } from '../client/client.ts'
import type { SessionEventView } from '../contract/session-views.ts'
import { views } from '../contract/views.ts'
import type { Io } from './io.ts'
import { news } from './news.ts'

const pageEvents = 1000

/** Which events of a session are followed, and from where. */
export type Followed = { readonly id: string; readonly words: readonly string[]; readonly after: number }

/** The events of a session as they come: read from its list when the stream says that there is something, each once. */
export async function* followSessionEvents(
  client: Client,
  { id, words, after }: Followed,
  io: Io,
): AsyncGenerator<SessionEventView> {
  let reached = after
  const type = words.length === 0 ? {} : { type: words.join(',') }
  for await (const _ of news(client, { after, type: typesOf(words).join(',') }, io)) {
    while (true) {
      const page = await client.listSessionEvents(
        { id, ...type, after: reached, limit: pageEvents },
        { signal: io.signal },
      )
      const fresh = page.events.filter(({ seq }) => seq > reached)
      yield* fresh
      // A full page may end before the list does; only a short one reaches as far as the answer says.
      const isWhole = page.events.length < pageEvents
      reached = Math.max(reached, fresh.at(-1)?.seq ?? 0, isWhole ? page.seq : 0)
      if (isWhole || fresh.length === 0) break
    }
  }
}

/** The event types behind words of `sm events`; calls of tools are many, so they ring only for who asks for them. */
function typesOf(words: readonly string[]): string[] {
  const types = Object.entries(views).filter(([, { sm }]) =>
    words.length === 0 ? sm !== null && sm !== 'tool' : sm !== null && words.includes(sm),
  )
  return (types.length > 0 ? types : Object.entries(views)).map(([type]) => type)
}
