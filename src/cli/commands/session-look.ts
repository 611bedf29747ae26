import type { Client } from '../../client/client.ts'
import type { CommandOutput } from '../../contract/cli/outputs.ts'
import { AppError } from '../../contract/errors.ts'
import type { RouteInput, RouteOutput } from '../../contract/routes.ts'
import type { SessionEventView } from '../../contract/session-views.ts'
import { defineCommands } from '../command-module.ts'
import { callerSession, currentSession, sessionMeant } from '../current-session.ts'
import type { Io } from '../io.ts'
import { listSessions, othersIn } from '../list-sessions.ts'
import { ifReachable, news } from '../news.ts'
import { given, parseSince } from '../parse-values.ts'
import { renderExplanation } from '../render/explanation.ts'
import { oneLine, plainLines } from '../render/safe-text.ts'
import {
  milestoneLines,
  renderBlackboard,
  renderProcesses,
  renderProgress,
  renderSessionEvent,
  renderTranscript,
} from '../render/session-details.ts'
import { renderChildren, renderStatus } from '../render/session-lines.ts'
import { renderSessionTable } from '../render/session-table.ts'

// What comes between the two questions is known to both, also when only the last few are shown.
const seamEvents = 100
const followedEntries = 200
const pageEvents = 1000

/** Looking at sessions: all of them, one of them, and what happens in them. */
export const sessionLookCommands = defineCommands({
  all: {
    run: async ({ closed }, io) => {
      const client = await (await io.daemon()).client()
      const filter = { agents: true, ...(closed ? {} : { open: true }) }
      return { ...(await listSessions(client, filter, io.signal)), next: null }
    },
    render: renderSessionTable,
  },
  status: {
    run: async (_input, io) => {
      const client = await (await io.daemon()).client()
      const session = await callerSession(client, io)
      const folder = session?.working_dir ?? io.cwd
      const [children, others] = await Promise.all([
        session === undefined
          ? []
          : client
              .listChildren({ id: session.id, recursive: true }, { signal: io.signal })
              .then((answer) => answer.children),
        othersIn(client, { folder, besides: session }, io.signal),
      ])
      const below = new Set(children.map(({ id }) => id))
      return {
        session: session ?? null,
        children,
        working_dir: folder,
        others: others.filter(({ id }) => !below.has(id)),
      }
    },
    render: renderStatus,
  },
  children: {
    asks: ({ session, recursive, status }, io) => ({
      id: sessionMeant(session, io),
      ...given({ recursive, status }),
    }),
    aside: ({ children }) => (children.length === 0 ? 'No child sessions.' : undefined),
    render: renderChildren,
  },
  progress: {
    run: ({ session, watch }, io) => {
      const id = sessionMeant(session, io)
      const ask = async () => {
        const client = await (await io.daemon()).client()
        return () => client.getProgress({ id }, { signal: io.signal })
      }
      if (watch === undefined) return ask().then((look) => look())
      return (async function* () {
        const look = await ask()
        for (let seen = await look(); ; seen = await look()) {
          yield seen
          if (seen.is_complete) return
          // Never a busy loop, also for `--watch 0`.
          await io.sleep(Math.max(200, watch * 1000))
        }
      })()
    },
    render: renderProgress,
    isRedrawn: ({ watch }) => watch !== undefined,
  },
  checkpoints: {
    asks: ({ session }, io) => ({ id: sessionMeant(session, io) }),
    aside: ({ checkpoints }) => (checkpoints.length === 0 ? 'No milestones.' : undefined),
    render: ({ checkpoints }, { now }) => milestoneLines(checkpoints, now).join('\n'),
  },
  events: {
    run: async function* ({ session, type: words, limit, follow, since }, io) {
      const id = session ?? currentSession(io)
      const filter = {
        limit: Math.max(limit, follow ? seamEvents : 1),
        ...given({
          type: words.length > 0 && words.join(','),
          since: since === undefined ? undefined : parseSince(since, io.now()),
        }),
      }
      const client = await (await io.daemon()).client()
      // What the list holds up to here is followed no more; it is asked for first, so that nothing falls between.
      const { seq: after } = follow ? await client.health({}, { signal: io.signal }) : { seq: 0 }
      const { events: past } = await listTold(client, id, io)(filter)
      yield* past.slice(Math.max(0, past.length - limit))
      if (!follow) return
      // What a full list left out is older than what was shown, and stays left out.
      const begun = past.length < filter.limit ? after : Math.max(after, (past[0]?.seq ?? 1) - 1)
      yield* followSessionEvents(client, { id, words, after: begun, known: past }, io)
    },
    render: renderSessionEvent,
  },
  tail: {
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
      let seen: CommandOutput<'tail'> = first
      for await (const _ of news(client, { after: seq, session: id }, io)) {
        const shown = await ifReachable(look(followedEntries))
        if (shown === undefined) continue
        const { path, entries } = shown
        const isSame = path === seen.path
        const fresh = isSame ? freshEntries(seen.entries, entries) : entries
        if (fresh.length === 0) continue
        if (isSame && fresh.length === entries.length && seen.entries.length > 0)
          io.say('some entries are missing here')
        seen = shown
        yield { path, entries: fresh }
      }
    },
    render: renderTranscript,
  },
  output: {
    asks: ({ session, lines }, io) => ({ id: sessionMeant(session, io), lines: Math.max(1, lines) }),
    aside: ({ is_alive }) =>
      is_alive ? undefined : 'its terminal is gone; these are the last lines that were saved',
    render: ({ lines }) => plainLines(lines.join('\n')).trimEnd(),
  },
  blackboard: {
    asks: ({ session }, io) => ({ id: sessionMeant(session, io) }),
    render: renderBlackboard,
  },
  what: {
    run: async ({ session, model }, io) => {
      if (model === '') throw new AppError('invalid', '--model is empty; sm models lists what can be used')
      const client = await (await io.daemon()).client()
      const known = await client.getSummary({ id: session }, { signal: io.signal })
      if (model === undefined) return known
      const { summarize } = await import('../talk/ask-once.ts')
      return summarize(client, { known, model }, io)
    },
    render: ({ name, session_id, summary, made_by }) =>
      `${oneLine(name)} (${session_id}): ${plainLines(summary).trim()}\n(made by ${oneLine(made_by)})`,
  },
  explain: {
    asks: ({ session }, io) => ({ id: sessionMeant(session, io) }),
    render: renderExplanation,
  },
  ps: {
    asks: () => ({}),
    render: renderProcesses,
  },
})

type Asked = Omit<RouteInput<'listSessionEvents'>, 'id'>

/** Asks for the lines of one session and its children, or of all sessions that the caller may see. */
const listTold =
  (client: Client, id: string | undefined, { signal }: Pick<Io, 'signal'>) =>
  (filter: Asked): Promise<RouteOutput<'listSessionEvents'>> =>
    id === undefined
      ? client.listFleetEvents(filter, { signal })
      : client.listSessionEvents({ id, ...filter }, { signal })

/** Which events of a session, or of all, are followed, from where, and those after that point that are known already. */
export type Followed = {
  readonly id: string | undefined
  readonly words: readonly string[]
  readonly after: number
  readonly known: readonly SessionEventView[]
}

/** The events as they come: their list is read when the stream says that there is something, each once. */
export async function* followSessionEvents(
  client: Client,
  { id, words, after, known }: Followed,
  io: Io,
): AsyncGenerator<SessionEventView> {
  const filter = { limit: pageEvents, ...(words.length > 0 && { type: words.join(',') }) }
  const list = listTold(client, id, io)
  let told = new Set(known.map(({ seq }) => seq))
  // A list is put together from several sessions while events arrive: only what an answer reached before
  // this one was asked for is surely whole, so each look goes back to there and tells what is new.
  let whole = after
  let reached = after
  for await (const _ of news(client, { after, told: true }, io)) {
    let from = whole
    while (true) {
      const page = await ifReachable(list({ ...filter, after: from }))
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

type Entry = { readonly at: string; readonly who: string; readonly text: string }

/** The entries of a list's end that an earlier look at its end has not shown: the two overlap where they agree longest. */
export function freshEntries<E extends Entry>(seen: readonly E[], now: readonly E[]): E[] {
  for (let overlap = Math.min(seen.length, now.length); overlap > 0; overlap--) {
    const start = seen.length - overlap
    if (now.slice(0, overlap).every((entry, i) => isSame(entry, seen[start + i]))) return now.slice(overlap)
  }
  return [...now]
}

function isSame(a: Entry, b: Entry | undefined): boolean {
  return b !== undefined && a.at === b.at && a.who === b.who && a.text === b.text
}
