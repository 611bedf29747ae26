import { type FileHandle, open } from 'node:fs/promises'
import { foreignJson } from '../../contract/formats/foreign-json.ts'
import {
  type Commit,
  digestAt,
  isCommit,
  isLost,
  lineDigest,
  nextChain,
  parseCommit,
  parseLost,
  readHeader,
  type SegmentFile,
  seqOf,
  tombstoneDigest,
} from './format.ts'

/** A place in a segment between two batches; its chain is empty where damage hides it. */
export type Place = {
  readonly offset: number
  readonly line: number
  readonly seq: number
  readonly chain: string
}

/** Bytes that are not what was written. */
export type Damage = {
  readonly file: string
  /** Missing for a file that has no lines, or that is not there. */
  readonly line?: number
  readonly offset: number
  readonly seq?: number
  readonly reason: string
}

/** One whole batch: its event lines and where it ends. Lost events are a batch without lines. */
export type Batch = { readonly lines: readonly string[]; readonly commit: Commit; readonly end: Place }

/** Bytes after the last whole batch. */
export type Tail = { readonly offset: number; readonly bytes: number; readonly reason: string }

export type Walked = { readonly end: Place; readonly damage: Damage[]; readonly tail: Tail | undefined }

type Options = {
  /** Where to begin; without it the header is read and checked first. */
  readonly from?: Place
  /** Where the segment before this one ended; its header must go on from there. */
  readonly continues?: Pick<Place, 'seq' | 'chain'> | undefined
  /** Checks every digest and the chain; without it lines are trusted. */
  readonly verify: boolean
  readonly onBatch: (batch: Batch) => void
  readonly signal?: AbortSignal
}

/** Walks a segment batch by batch in bounded memory; a damaged batch is reported and the walk goes on. */
export async function walkSegment(segment: SegmentFile, options: Options): Promise<Walked> {
  const damage: Damage[] = []
  let place: Place = options.from ?? { offset: 0, line: 0, seq: segment.firstSeq - 1, chain: '' }
  let header = options.from !== undefined
  let lines: string[] = []
  let starts: number[] = []
  let digests: string[] = []
  let lineNumber = place.line
  let tail: Tail | undefined
  // A batch at the very end whose blocks read as zeros was cut off by a power loss: it was never acknowledged.
  let unwritten: Tail | undefined
  let beforeUnwritten: Place = place
  const note = (found: Omit<Damage, 'file'>) => damage.push({ file: segment.path, ...found })

  for await (const group of lineGroups(segment.path, place.offset)) {
    options.signal?.throwIfAborted()
    for (const line of group) {
      lineNumber += 1
      if (!header) {
        header = true
        const begun = beginning(segment, line, options.continues)
        place = begun.place
        if (begun.reason !== undefined)
          note({ line: 1, offset: 0, seq: segment.firstSeq, reason: begun.reason })
        // Nothing can be said of lines that belong elsewhere, or that only newer code understands.
        if (begun.isOfAnother) return { end: { ...place, chain: '' }, damage, tail }
      } else if (!line.whole) {
        tail = tailFrom(place.offset, line.end, 'the last line has no newline')
        if (isCommit(line.text) && parseCommit(line.bytes.toString('utf8', 0, line.bytes.length - 1)))
          note({
            line: lineNumber,
            offset: line.end - 1,
            seq: place.seq + lines.length,
            reason: 'the newline after the last commit line is damaged',
          })
      } else if (isLost(line.text)) {
        const lost = parseLost(line.text)
        if (lost?.from !== place.seq + 1 || lines.length > 0)
          note({ line: lineNumber, offset: line.start, seq: place.seq + 1, reason: damagedLost })
        place = {
          offset: line.end,
          line: lineNumber,
          seq: lost?.to ?? place.seq,
          chain: lost?.chain ?? '',
        }
        if (lost) options.onBatch({ lines: [], commit: { n: 0, lines: '', ...endOf(place) }, end: place })
      } else if (isCommit(line.text)) {
        const commit = parseCommit(line.text)
        const end = {
          offset: line.end,
          line: lineNumber,
          seq: commit?.seq ?? place.seq + lines.length,
          chain: commit?.chain ?? '',
        }
        const bad = !commit
          ? { i: lines.length, reason: 'the commit line cannot be read' }
          : firstBad(lines, { commit, place, digests: options.verify ? digests : undefined })
        unwritten = undefined
        if (bad) {
          if (lines.some(isUnwritten))
            unwritten = tailFrom(place.offset, line.end, 'the last batch was not fully written')
          beforeUnwritten = place
          note({
            line: lineNumber - lines.length + bad.i,
            offset: starts[bad.i] ?? line.start,
            seq: place.seq + bad.i + 1,
            reason: bad.reason,
          })
        } else if (commit) options.onBatch({ lines, commit, end })
        place = end
        lines = []
        starts = []
        digests = []
      } else {
        lines.push(line.text)
        starts.push(line.start)
        if (options.verify) digests.push(tombstoneDigest(line.text) ?? lineDigest(line.bytes))
      }
    }
  }
  if (!header) note({ line: 1, offset: 0, seq: segment.firstSeq, reason: 'the segment is empty' })
  if (!tail && lines.length > 0) {
    const end = (starts.at(-1) ?? 0) + Buffer.byteLength(lines.at(-1) ?? '') + 1
    tail = tailFrom(place.offset, end, 'the last batch has no commit line')
  }
  // A write that was cut off leaves whole lines as they were: one that is not is damage, and may hold the commit.
  const garbled = lines.findIndex((text, i) => !isUnwritten(text) && !isEventLine(text, place.seq + 1 + i))
  if (tail && garbled !== -1)
    note({
      line: place.line + garbled + 1,
      offset: starts[garbled] ?? tail.offset,
      seq: place.seq + garbled + 1,
      reason: 'a line of the last batch is damaged',
    })
  if (unwritten && damage.length === 1 && !tail) return { end: beforeUnwritten, damage: [], tail: unwritten }
  return { end: place, damage, tail }
}

type Beginning = { readonly place: Place; readonly reason?: string; readonly isOfAnother?: true }

/** Where the batches of a segment begin, by its header; without one that can be read, by the segment before it. */
function beginning(segment: SegmentFile, line: SegmentLine, before: Options['continues']): Beginning {
  const header = readHeader(line.whole ? line.text : '', segment)
  const at = { offset: line.end, line: 1 }
  if ('problem' in header) {
    const place = { ...at, seq: segment.firstSeq - 1, chain: before?.chain ?? '' }
    const reason = `the file ${header.reason}`
    return header.problem === 'damaged' ? { place, reason } : { place, reason, isOfAnother: true }
  }
  const place = { ...at, seq: header.firstSeq - 1, chain: header.chain }
  const isSeamless =
    !before || (before.seq === place.seq && (before.chain === place.chain || before.chain === ''))
  return isSeamless ? { place } : { place, reason: brokenSeam }
}

const isEventLine = (text: string, seq: number): boolean =>
  seqOf(text) === seq && foreignJson(text) !== undefined

/** Blocks that a power loss left unwritten are zeros, to the end of a block; one zero among other bytes is damage. */
const isUnwritten = (text: string): boolean => text.startsWith('\0') || text.includes('\0'.repeat(16))

const endOf = ({ seq, chain }: Place) => ({ seq, chain })

const damagedLost = 'the line that says which events are lost is damaged'

const brokenSeam = 'the segment does not continue the one before it; a segment is missing or was changed'

const tailFrom = (offset: number, end: number, reason: string): Tail => ({
  offset,
  bytes: end - offset,
  reason,
})

function firstBad(
  lines: readonly string[],
  { commit, place, digests }: { commit: Commit; place: Place; digests: readonly string[] | undefined },
): { i: number; reason: string } | undefined {
  if (digests) {
    const bad = digests.findIndex((digest, i) => digest !== digestAt(commit, i))
    if (bad !== -1) return { i: bad, reason: 'the line does not match its digest' }
    const isKnown = place.chain !== ''
    if (lines.length === commit.n && isKnown && nextChain(place.chain, digests.join('')) !== commit.chain)
      return { i: lines.length, reason: 'the commit does not continue the chain' }
  }
  if (lines.length !== commit.n)
    return { i: lines.length, reason: `the batch has ${lines.length} lines, its commit says ${commit.n}` }
  if (commit.n > 0 && seqOf(lines[0] as string) !== place.seq + 1)
    return { i: 0, reason: `expected seq ${place.seq + 1}` }
  if (commit.seq !== place.seq + commit.n) return { i: lines.length, reason: 'the commit names a wrong seq' }
  return undefined
}

/** One line with the place of its first byte and of the byte after its newline; `bytes` is valid until the next group. */
export type SegmentLine = {
  readonly text: string
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
  readonly whole: boolean
}

const chunkBytes = 1 << 20
const newline = 0x0a

/**
 * The lines of a file from an offset, in groups of about a megabyte: memory is bounded by the longest
 * line, not by the file. A last line without its newline comes with `whole: false`.
 */
export async function* lineGroups(path: string, from = 0): AsyncGenerator<SegmentLine[]> {
  const handle = await open(path, 'r')
  try {
    yield* scan(handle, from)
  } finally {
    await handle.close()
  }
}

async function* scan(handle: FileHandle, from: number): AsyncGenerator<SegmentLine[]> {
  // Two chunks in turn: the next is read while the lines of this one are worked on.
  const chunks = [Buffer.allocUnsafe(chunkBytes), Buffer.allocUnsafe(chunkBytes)] as const
  let turn: 0 | 1 = 0
  const read = (position: number, into: 0 | 1) => {
    const reading = handle.read(chunks[into], 0, chunkBytes, position)
    // Reported when it is awaited; a reader that left early must not leave an unhandled rejection.
    reading.catch(() => {})
    return reading
  }
  // Pieces of a line that spans chunks: joined once, so a 12 MB line does not cost a copy for each chunk.
  let pieces: Buffer[] = []
  let start = from
  let position = from
  let reading = read(position, turn)
  for (;;) {
    const { bytesRead } = await reading
    if (bytesRead === 0) break
    const chunk = chunks[turn].subarray(0, bytesRead)
    turn = turn === 0 ? 1 : 0
    reading = read(position + bytesRead, turn)
    const group: SegmentLine[] = []
    let at = 0
    for (;;) {
      const index = chunk.indexOf(newline, at)
      if (index === -1) break
      const end = position + index + 1
      const own = chunk.subarray(at, index)
      const bytes = pieces.length === 0 ? own : Buffer.concat([...pieces, own])
      pieces = []
      group.push({ text: bytes.toString('utf8'), bytes, start, end, whole: true })
      start = end
      at = index + 1
    }
    if (at < bytesRead) pieces.push(Buffer.from(chunk.subarray(at)))
    position += bytesRead
    if (group.length > 0) yield group
  }
  if (pieces.length > 0) {
    const bytes = Buffer.concat(pieces)
    yield [{ text: bytes.toString('utf8'), bytes, start, end: position, whole: false }]
  }
}
