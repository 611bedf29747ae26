import { AppError } from '../contract/errors.ts'
import { maxParts } from '../contract/formats/sse.ts'
import type { JournalReader } from '../ports/journal.ts'

/** A place in a stream: after one frame of an event, or, without a part, after all of them. */
export type Cursor = { readonly seq: number; readonly part?: number }

/** Why a client cannot have all that comes after what it has. */
export type ResyncReason = 'too_old' | 'unknown_id' | 'unreadable' | 'not_shown'

/** Where a stream begins: live, after a frame, or live with the news that something was missed. */
export type Start =
  | { readonly kind: 'live' }
  | { readonly kind: 'resume'; readonly cursor: Cursor }
  | { readonly kind: 'resync'; readonly reason: ResyncReason; readonly asked: string }

/** What a client says it has: a browser's own header, or a query that somebody wrote. */
export type Asked = { readonly id: string; readonly by: 'header' | 'query' }

/** Decides where a stream begins; refuses an id that says nothing. */
export function startOf(
  asked: Asked | undefined,
  journal: Pick<JournalReader, 'watermark' | 'oldest'>,
): Start {
  if (asked === undefined) return { kind: 'live' }
  const cursor = parseCursor(asked.id)
  if (!cursor)
    throw new AppError(
      'invalid',
      `"${asked.id.slice(0, 40)}" is not a frame id; it must be seq or seq.part, like 120.0`,
    )
  const end = journal.watermark()
  if (cursor.seq > end) {
    if (asked.by === 'query')
      throw new AppError('invalid', `the journal ends at ${end}; ask for what is after ${end} or earlier`)
    // A browser gives up for good on a 400, and a journal restored from a backup must not silence it.
    return { kind: 'resync', reason: 'unknown_id', asked: asked.id }
  }
  if (firstNeeded(cursor) < journal.oldest()) return { kind: 'resync', reason: 'too_old', asked: asked.id }
  return { kind: 'resume', cursor }
}

/** Reads `seq` or `seq.part`. */
export function parseCursor(id: string): Cursor | undefined {
  const match = /^(0|[1-9]\d{0,15})(?:\.(0|[1-9]\d{0,2}))?$/.exec(id)
  const seq = Number(match?.[1])
  if (!match || !Number.isSafeInteger(seq)) return undefined
  return match[2] === undefined ? { seq } : { seq, part: Number(match[2]) }
}

// An event whose later parts may be owed must still be there itself.
function firstNeeded({ seq, part }: Cursor): number {
  return seq > 0 && part !== undefined && part < maxParts - 1 ? seq : seq + 1
}
