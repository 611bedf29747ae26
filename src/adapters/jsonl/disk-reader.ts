import { type FileHandle, open } from 'node:fs/promises'
import type { StoredEvent } from '../../ports/journal.ts'
import {
  type Commit,
  digestAt,
  isCommit,
  isTombstone,
  lineDigest,
  parseCommit,
  type SegmentFile,
  StoredLine,
  seqOf,
} from './format.ts'

const keptPositions = 4096

/**
 * Finds and reads pages of segments on disk, remembering where earlier pages ended so that followers do not scan. A
 * line is given only when its digest is right: what is damaged is missing in the order of seqs, for its reader to tell.
 */
export class DiskReader {
  readonly #segments: () => readonly SegmentFile[]
  readonly #pageBytes: number
  /** seq → where the line after it begins; the oldest entry is dropped first. */
  readonly #positions = new Map<number, Position>()

  constructor(segments: () => readonly SegmentFile[], pageBytes = 1 << 20) {
    this.#segments = segments
    this.#pageBytes = pageBytes
  }

  async page(after: number, limit: number, maxSeq: number): Promise<readonly StoredEvent[]> {
    if (after >= maxSeq || limit < 1) return []
    const from = this.#find(after)
    if (!from) return []
    const { events, next } = await readPage(from, {
      after,
      limit: { events: limit, bytes: this.#pageBytes, maxSeq },
      segments: this.#segments(),
    })
    this.#remember(next)
    return events
  }

  #find(after: number): Position | undefined {
    const known = this.#positions.get(after)
    if (known) return known
    const segments = this.#segments()
    const segment = segments.findLast((s) => s.firstSeq <= after + 1) ?? segments[0]
    if (!segment) return undefined
    let best: Position = { segment, offset: 0, seq: segment.firstSeq - 1 }
    for (const position of this.#positions.values())
      if (position.segment.number === segment.number && position.seq <= after && position.seq > best.seq)
        best = position
    return best
  }

  #remember(position: Position): void {
    this.#positions.delete(position.seq)
    this.#positions.set(position.seq, position)
    if (this.#positions.size > keptPositions) {
      const oldest = this.#positions.keys().next().value
      if (oldest !== undefined) this.#positions.delete(oldest)
    }
  }
}

/** Where reading goes on: a byte in a segment, and the last seq before it. */
type Position = { readonly segment: SegmentFile; readonly offset: number; readonly seq: number }

/** How much one page may hold. At least one event is always given. */
type PageLimit = { readonly events: number; readonly bytes: number; readonly maxSeq: number }

/** A follower that keeps up finds a few lines each time; a megabyte for them would be work for the collector. */
const firstBytes = 1 << 16
const chunkBytes = 1 << 20
const newline = 0x0a

/** Reads one page from a position, in bounded memory; `next` is where the following page begins. */
async function readPage(
  from: Position,
  { after, limit, segments }: { after: number; limit: PageLimit; segments: readonly SegmentFile[] },
): Promise<{ events: StoredEvent[]; next: Position }> {
  let position = from
  for (;;) {
    const page = await readInSegment(position, after, limit)
    if (page.events.length > 0) return page
    const following = segments[segments.findIndex((s) => s.number === position.segment.number) + 1]
    if (!following || page.next.seq >= limit.maxSeq) return page
    position = { segment: following, offset: 0, seq: following.firstSeq - 1 }
  }
}

async function readInSegment(
  from: Position,
  after: number,
  limit: PageLimit,
): Promise<{ events: StoredEvent[]; next: Position }> {
  const handle = await open(from.segment.path, 'r')
  try {
    return await takeLines(handle, { from, after, limit })
  } finally {
    await handle.close()
  }
}

/** A line of a batch whose commit has not been read yet. */
type Unproven = {
  readonly seq: number
  readonly text: string
  readonly digest: string
  readonly start: number
}

async function takeLines(
  handle: FileHandle,
  { from, after, limit }: { from: Position; after: number; limit: PageLimit },
): Promise<{ events: StoredEvent[]; next: Position }> {
  const { segment } = from
  const events: StoredEvent[] = []
  let bytes = 0
  let { offset, seq } = from
  // Where the batch begins that is being read; a batch that is not whole yet is read again with the next page.
  let start = offset
  let batch: Unproven[] = []
  let buffer = Buffer.allocUnsafe(firstBytes)
  let filled = 0
  for (;;) {
    const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, offset + filled)
    filled += bytesRead
    let at = 0
    for (;;) {
      const end = buffer.subarray(0, filled).indexOf(newline, at)
      if (end === -1) break
      const text = buffer.toString('utf8', at, end)
      const line = { start: offset + at, seq: seqOf(text) }
      if (!isCommit(text)) {
        if (line.seq > after) batch.push({ ...line, text, digest: lineDigest(buffer.subarray(at, end)) })
        else if (line.seq > seq) seq = line.seq
        at = end + 1
        continue
      }
      at = end + 1
      const commit = parseCommit(text)
      if (isLaterThan(limit.maxSeq, commit, batch)) return { events, next: { segment, offset: start, seq } }
      for (const one of batch) {
        if (!isProven(one, commit) || one.seq <= seq || one.seq > limit.maxSeq) continue
        if (events.length >= limit.events || bytes >= limit.bytes)
          return { events, next: { segment, offset: one.start, seq } }
        seq = one.seq
        if (isTombstone(one.text)) continue
        events.push(new StoredLine(one.text, one.seq))
        bytes += one.text.length
      }
      batch = []
      start = offset + at
      if (events.length >= limit.events || bytes >= limit.bytes)
        return { events, next: { segment, offset: start, seq } }
    }
    offset += at
    if (bytesRead === 0) return { events, next: { segment, offset: start, seq } }
    // What is left is the beginning of a line; a line longer than the buffer makes the buffer grow.
    const rest = filled - at
    const isFull = filled === buffer.length
    const source = buffer
    if (isFull && (at === 0 || buffer.length < chunkBytes))
      buffer = Buffer.allocUnsafe(Math.max(chunkBytes, at === 0 ? buffer.length * 2 : 0))
    source.copy(buffer, 0, at, filled)
    filled = rest
  }
}

/** Whether a batch is beyond what is durable: its commit and its first line both say so, since one may be damaged. */
function isLaterThan(maxSeq: number, commit: Commit | undefined, batch: readonly Unproven[]): boolean {
  return commit !== undefined && commit.seq - commit.n + 1 > maxSeq && (batch[0]?.seq ?? 0) > maxSeq
}

/** A commit has a digest for every seq of its batch. */
function isProven({ seq, text, digest }: Unproven, commit: Commit | undefined): boolean {
  if (!commit) return false
  const i = commit.n - 1 - (commit.seq - seq)
  return i >= 0 && i < commit.n && (isTombstone(text) || digestAt(commit, i) === digest)
}
