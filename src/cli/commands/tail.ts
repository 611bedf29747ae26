import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { DataCommand } from '../command-module.ts'
import { sessionMeant } from '../current-session.ts'
import { freshEntries } from '../fresh-entries.ts'
import { ifReachable } from '../if-reachable.ts'
import { news } from '../news.ts'
import { renderTranscript } from '../render/transcript.ts'

const followedEntries = 200

export const tail: DataCommand<'tail'> = {
  run: async function* ({ session, lines, follow }, io) {
    const named = sessionMeant(session, io)
    const client = await (await io.daemon()).client()
    const { signal } = io
    // The stream compares ids, so a name is looked up first; and it goes on from before the first look.
    const { id } = follow ? await client.getSession({ id: named }, { signal }) : { id: named }
    const { seq } = follow ? await client.health({}, { signal }) : { seq: 0 }
    const look = (limit: number) => client.getTranscript({ id, limit }, { signal })
    const first = await look(Math.max(1, lines, follow ? followedEntries : 0))
    yield { ...first, entries: first.entries.slice(first.entries.length - lines) }
    if (!follow) return
    let seen: CommandOutput<'tail'>['entries'] = first.entries
    for await (const _ of news(client, { after: seq, session: id }, io)) {
      const shown = await ifReachable(look(followedEntries))
      if (shown === undefined) continue
      const { path, entries } = shown
      const fresh = freshEntries(seen, entries)
      if (fresh.length === 0) continue
      if (fresh.length === entries.length && seen.length > 0) io.say('some entries were left out here')
      seen = entries
      yield { path, entries: fresh }
    }
  },
  render: renderTranscript,
}
