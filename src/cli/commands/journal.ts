import type { Client } from '../../client/client.ts'
import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { CommandInput } from '../../contract/cli.ts'
import { errorCodes } from '../../contract/errors.ts'
import type { SessionId as Session } from '../../contract/ids.ts'
import type { WireEvent } from '../../contract/routes.ts'
import { shortId } from '../../contract/short-id.ts'
import { printableJson } from '../../contract/terminal-controls.ts'
import { defineCommands, type View } from '../command-module.ts'
import type { Io } from '../io.ts'
import { bytes, clockSeconds, count, plural } from '../render/figures.ts'
import { painter } from '../render/paint.ts'
import { oneLine } from '../render/safe-text.ts'
import { terms } from '../render/table.ts'
import { cut, pad } from '../render/text-width.ts'

const largestPage = 1000
const chunkSize = 64 * 1024
const tenMinutesMs = 600_000

/** Reading, checking and moving the journal. */
export const journalCommands = defineCommands(
  {
    'journal verify': {
      run: async ({ 'set-aside': isCure }, io) => {
        const offline = await io.offline()
        const cured = isCure ? { setAside: [...(await offline.journalSetAside())] } : {}
        const found = await offline.journalVerify((size) => io.progress(`${bytes(size)} checked`), io.signal)
        return { ...found, ...cured }
      },
      render: renderVerification,
      exitCode: ({ ok }) => (ok ? 0 : errorCodes.failed.exit),
    },
    'journal tail': {
      run: async function* (input, io) {
        const client = await (await io.daemon()).client()
        const { events, seq } = await lastEvents(client, input, io.signal)
        yield* events
        if (input.follow) yield* newEvents(client, { input, after: seq }, io)
      },
      render: renderEventLine,
    },
    'journal import': {
      run: async ({ file }, io) => (await import('./journal-import.ts')).importJournal(file, io),
      render: renderImport,
      exitCode: ({ rejected }) => (rejected.length === 0 ? 0 : errorCodes.failed.exit),
    },
    'journal stats': {
      // Open sessions and producers are known to a running daemon at once; without one the files tell.
      run: async (_input, io) => {
        const client = await (await io.daemon()).running()
        return client === undefined
          ? (await io.offline()).journalStats(io.signal)
          : client.journalStats({}, { signal: io.signal })
      },
      render: renderStats,
    },
    'journal rebuild-index': {
      run: async (_input, io) => {
        const client = await (await io.daemon()).client()
        io.progress('building the index…')
        return client.rebuildIndex({}, { signal: io.signal, timeoutMs: tenMinutesMs })
      },
      render: ({ seq }) => `Rebuilt the index, up to event ${count(seq)}.`,
    },
  },
  {
    'journal export': {
      text: async function* ({ after, type, session }, io) {
        const offline = await io.offline()
        // Files know sessions by their ids; only the daemon knows what they are called.
        const isNamed = session !== undefined && !/^(ses_|[0-9a-f]{8}$)/i.test(session)
        const id = isNamed ? await sessionOf(await (await io.daemon()).client(), session, io.signal) : session
        let chunk = ''
        for await (const line of offline.journalExport({ after, types: type, session: id }, io.signal)) {
          chunk += `${printableJson(line)}\n`
          if (chunk.length < chunkSize) continue
          yield chunk
          chunk = ''
        }
        if (chunk !== '') yield chunk
      },
    },
  },
)

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
    if (frame.event === 'resync') io.say(missingHere(frame.data))
    else yield frame.data as WireEvent
  }
}

function missingHere(data: unknown): string {
  const { reason, missing } = data as { reason?: string; missing?: { from: number; to: number } }
  if (missing === undefined) return 'fell too far behind: some events are missing here'
  if (reason === 'not_shown')
    return `event ${count(missing.from)} cannot be shown here: this is a fault of Muster, and its log says more; see: sm journal tail --json --after ${missing.from - 1}`
  return `events ${count(missing.from)} to ${count(missing.to)} cannot be read: they are damaged or lost; see: sm journal verify`
}

// The stream compares ids and looks nothing up, so a name or a prefix is resolved first.
async function sessionOf(
  client: Client,
  named: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (named === undefined) return undefined
  // The schemas cost more than any other command of the journal takes.
  const { SessionId } = await import('../../contract/ids.ts')
  if (SessionId.safeParse(named).success) return named
  return (await client.getSession({ id: named }, { signal })).id
}

function typesOf({ type }: Tail): { type?: string } {
  return type.length === 0 ? {} : { type: type.join(',') }
}

function clamp(limit: number): number {
  return Math.min(largestPage, Math.max(1, limit))
}

/** Whether the journal is whole, and the first place where it is not. */
export function renderVerification(found: CommandOutput<'journal verify'>, { color }: View): string {
  const paint = painter(color)
  const size = `${plural(found.events, 'event')} in ${plural(found.segments, 'segment')} (${bytes(found.bytes)})${found.blobs > 0 ? `, ${plural(found.blobs, 'long text')}` : ''}`
  return [
    ...(found.setAside ?? []).map(({ file, lines, lost, original }) =>
      oneLine(
        lost > 0
          ? `${file}: ${plural(lost, 'event')} recorded as lost`
          : `${file}: ${plural(lines, 'line')} set aside; the original file is ${original}`,
      ),
    ),
    found.ok ? `${paint('green', 'ok')}: ${size}` : `${paint('red', 'damaged')}: ${size}`,
    ...found.damage.map(({ file, line, offset, seq, reason }) =>
      oneLine(
        `${file}${line === undefined ? '' : `:${line}`}: byte ${count(offset)}${seq === undefined ? '' : `, event ${count(seq)}`}: ${reason}`,
      ),
    ),
    ...(found.unfinished === undefined
      ? []
      : [
          oneLine(
            `${found.unfinished.file}: ${bytes(found.unfinished.bytes)} after the last whole batch: ${found.unfinished.reason}`,
          ),
        ]),
    ...(found.ok
      ? []
      : [
          'Everything else is intact. Restore these files from a backup; or copy the folder, then accept the loss with: sm journal verify --set-aside',
        ]),
  ].join('\n')
}

/** How large the journal is, and which events it holds. */
export function renderStats(stats: CommandOutput<'journal stats'>): string {
  const rows: [string, string][] = [
    ['events', stats.seq === 0 ? 'none' : `${count(stats.oldestSeq)} to ${count(stats.seq)}`],
    ['segments', count(stats.segments)],
    ['size', bytes(stats.bytes)],
    ['blobs', bytes(stats.blobBytes)],
    ['snapshot', stats.snapshotSeq === 0 ? 'none' : `at event ${count(stats.snapshotSeq)}`],
    ['open sessions', count(stats.openSessions)],
    ['producers', count(stats.producers)],
  ]
  return terms(rows, { indent: '' }).join('\n')
}

/** What became of the lines of an imported file. */
export function renderImport(result: CommandOutput<'journal import'>, { width }: View): string {
  const { appended, duplicates, rejected } = result
  return [
    ...rejected.map(({ line, code, message }) => cut(oneLine(`line ${line}: ${code}: ${message}`), width)),
    `${plural(appended, 'event')} added, ${count(duplicates)} here already, ${count(rejected.length)} refused.`,
  ].join('\n')
}

/** One event in one line: when, its number, type, session, and the plain fields of its payload. */
export function renderEventLine(event: WireEvent, { width, color }: View): string {
  const paint = painter(color)
  const head = `[${clockSeconds(event.timestamp)}] ${String(event.seq).padStart(6)}  `
  const type = pad(oneLine(event.type), 25)
  const session = `  ${shortId(event.sessionId as Session)}  `
  const rest = cut(
    oneLine(fieldsOf(event.payload)),
    Math.max(10, width - head.length - type.length - session.length),
  )
  return `${paint('dim', head)}${paint(colourOf(event.type), type)}${session}${rest}`.trimEnd()
}

function colourOf(type: string): 'red' | 'green' | 'cyan' {
  if (/failed|killed|denied|abandoned|rejected|exceeded/.test(type)) return 'red'
  return /completed|passed|granted|verified/.test(type) ? 'green' : 'cyan'
}

function fieldsOf(payload: unknown): string {
  if (typeof payload !== 'object' || payload === null) return ''
  return Object.entries(payload)
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(' ')
}
