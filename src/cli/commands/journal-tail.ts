import type { Client } from '../../client/client.ts'
import type { CommandInput } from '../../contract/cli.ts'
import { SessionId } from '../../contract/ids.ts'
import type { WireEvent } from '../../contract/routes.ts'
import type { DataCommand } from '../command-module.ts'
import type { Io } from '../io.ts'
import { renderEventLine } from '../render/event-line.ts'

const largestPage = 1000

export const journalTail: DataCommand<'journal tail'> = {
  run: async function* (input, io) {
    const client = await (await io.daemon()).client()
    const { events, seq } = await lastEvents(client, input, io.signal)
    yield* events
    if (input.follow) yield* newEvents(client, { input, after: seq }, io)
  },
  render: renderEventLine,
}

type Tail = CommandInput<'journal tail'>

/** The last events that fit the filters, oldest first, and how far the journal reached when they were read. */
async function lastEvents(
  client: Client,
  input: Tail,
  signal: AbortSignal,
): Promise<{ events: WireEvent[]; seq: number }> {
  const filter = { ...typesOf(input), ...(input.session === undefined ? {} : { session: input.session }) }
  const page = (limit: number, before: number | undefined) =>
    client.listEvents({ ...filter, limit, ...(before === undefined ? {} : { before }) }, { signal })
  const first = await page(clamp(input.lines), undefined)
  let events = first.events
  while (events.length < input.lines && events.length > 0) {
    const older = await page(clamp(input.lines - events.length), events[0]?.seq)
    if (older.events.length === 0) break
    events = [...older.events, ...events]
  }
  return { events: events.slice(Math.max(0, events.length - input.lines)), seq: first.seq }
}

async function* newEvents(
  client: Client,
  { input, after }: { readonly input: Tail; readonly after: number },
  io: Io,
): AsyncGenerator<WireEvent> {
  const session = await sessionOf(client, input.session, io.signal)
  const filter = { after: String(after), ...typesOf(input), ...(session === undefined ? {} : { session }) }
  const onRetry = (error: Error) => io.say(`${error.message}; trying again`)
  for await (const frame of client.streamEvents(filter, { signal: io.signal, onRetry })) {
    if (frame.event === 'resync') io.say('too far behind: some events were left out here')
    else yield frame.data as WireEvent
  }
}

// The stream compares ids and looks nothing up, so a name or a prefix is resolved first.
async function sessionOf(
  client: Client,
  named: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (named === undefined || SessionId.safeParse(named).success) return named
  return (await client.getSession({ id: named }, { signal })).id
}

function typesOf({ type }: Tail): { type?: string } {
  return type.length === 0 ? {} : { type: type.join(',') }
}

function clamp(limit: number): number {
  return Math.min(largestPage, Math.max(1, limit))
}
