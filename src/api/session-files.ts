import { blobRefs } from '../contract/blob-refs.ts'
import { derivedIds } from '../contract/derived-ids.ts'
import { AppError } from '../contract/errors.ts'
import type { AgentEvent } from '../contract/event.ts'
import { shortId } from '../contract/ids.ts'
import type { SessionRow } from '../contract/index-rows.ts'
import type { Principal } from '../contract/principal.ts'
import type { RouteOutput } from '../contract/routes.ts'
import { sha256Hex } from '../contract/sha256.ts'
import type { BlobRef } from '../contract/values.ts'
import { tryWholeSession } from '../core/session/decide.ts'
import type { Engine } from '../engine/engine.ts'
import type { Index } from '../ports/index.ts'
import type { JournalReader } from '../ports/journal.ts'
import type { Blobs } from '../ports/storage.ts'
import { type SessionFile, sessionFromEvents } from '../session-file/export-session.ts'
import { sessionFileName } from '../session-file/file-name.ts'
import { eventsFromSession } from '../session-file/import-session.ts'
import { readSession } from '../session-file/read-session.ts'
import { sessionEvents } from './read-events.ts'
import { byOf } from './who-may.ts'

const batchEvents = 5000
const pageSessions = 1000
const mostSessions = 5000

/** Reads a session file into the journal. Ids and numbers follow from the content: the same file again adds nothing. */
export async function importSession(
  { engine }: { engine: Engine },
  input: { document?: unknown; filename?: string | undefined },
  principal: Principal,
): Promise<RouteOutput<'importLog'>> {
  const { session, repairs } = readSession(input.document, {
    ...(input.filename && { filename: input.filename }),
  })
  const ids = derivedIds(sha256Hex(JSON.stringify(input.document)), Date.parse(session.created_at))
  const drafts = eventsFromSession(session, ids)
  // Either the whole file goes in or nothing of it.
  tryWholeSession(drafts)
  let added = 0
  for (let at = 0; at < drafts.length; at += batchEvents) {
    const results = await engine.propose({
      items: drafts.slice(at, at + batchEvents),
      by: byOf(principal, 'import'),
      producer: { id: `import:${ids.session}`, epoch: 0, n: at + 1 },
    })
    const refused = results.find((result) => result.status === 'rejected')
    if (refused)
      throw new AppError('failed', `the file was read, but one of its events was refused: ${refused.message}`)
    added += results.filter((result) => result.status === 'appended').length
  }
  return {
    sessionId: ids.session,
    shortId: shortId(ids.session),
    events: added,
    repairs: [...repairs],
    duplicate: added === 0,
  }
}

type ExportDeps = {
  readonly journal: JournalReader
  readonly blobs: Pick<Blobs, 'get'>
  readonly index: Index
}

/** The session file of a session and all below it. */
export async function exportSession(deps: ExportDeps, row: SessionRow): Promise<SessionFile> {
  const events: AgentEvent[] = []
  for (const { sessionId } of await deps.index.ask('subtree', row.sessionId, mostSessions))
    for await (const event of sessionEvents(deps, sessionId)) events.push(event)
  events.sort((a, b) => a.seq - b.seq)
  const texts = await blobTexts(deps.blobs, events)
  return sessionFromEvents(events, {
    session: row.sessionId,
    sequence: await sequenceOf(deps.index, row),
    resolve: (ref) => texts.get(ref.$blob) ?? ref.preview,
  })
}

/** The name that the file of a session has, when it is one of several agents and when it is not. */
export async function namesOf(index: Index, row: SessionRow): Promise<readonly string[]> {
  const createdAt = new Date(row.startedMs ?? 0).toISOString()
  const sequence = await sequenceOf(index, row)
  const title = row.title || row.name || ''
  return [true, false].map((isMulti) => sessionFileName({ createdAt, sequence, title, isMulti }))
}

/** The number of a session among those of its day; what came before it in the journal never changes. */
async function sequenceOf(index: Index, row: SessionRow): Promise<number> {
  const day = dayOf(row)
  let sequence = 1
  for (let before: number | undefined = row.firstSeq; before !== undefined; ) {
    const earlier: SessionRow[] = await index.ask('sessions', { before, limit: pageSessions })
    const ofDay = earlier.filter((other) => dayOf(other) === day)
    sequence += ofDay.length
    before = ofDay.length === 0 || earlier.length < pageSessions ? undefined : earlier.at(-1)?.firstSeq
  }
  return sequence
}

const dayOf = ({ startedMs }: SessionRow): number => Math.floor((startedMs ?? 0) / 86_400_000)

async function blobTexts(
  blobs: ExportDeps['blobs'],
  events: readonly AgentEvent[],
): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  for (const event of events)
    for (const ref of blobRefs(event.payload))
      if (!texts.has(ref.$blob)) texts.set(ref.$blob, await textOf(blobs, ref))
  return texts
}

/** A text that is gone costs its session no more than that text, and says so in its place. */
async function textOf(blobs: ExportDeps['blobs'], ref: BlobRef): Promise<string> {
  try {
    return await blobs.get(ref, new AbortController().signal)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const word = error.code === 'not_found' ? 'missing' : 'damaged'
    return `${ref.preview}\n[the rest of this text of ${ref.bytes} bytes is ${word} in the journal: ${ref.$blob}]`
  }
}
