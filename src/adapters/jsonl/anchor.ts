import { closeSync, existsSync, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import type { JournalFinding } from '../../ports/journal.ts'
import {
  type Header,
  headerOf,
  isUnchanged,
  type Layout,
  packPath,
  parseCommit,
  parseLost,
  type SegmentFile,
  segmentPath,
} from './format.ts'

/** What a snapshot remembers of a segment: enough to tell at a start, without reading it, that it is still the same. */
export type Anchored = {
  readonly number: number
  readonly firstSeq: number
  /** The chain before its first batch, as its header has it. */
  readonly chain: string
  readonly bytes: number
  readonly packBytes: number
}

/** Something that is wrong with a file of the journal; its segment may be gone. */
export type Finding = JournalFinding & { readonly segment: number; readonly isNewer?: true }

type Checked = {
  readonly findings: readonly Finding[]
  /** What the next snapshot is to remember: what is damaged is remembered as it was. */
  readonly anchored: ReadonlyMap<number, Anchored>
}

/**
 * Compares names, headers and sizes with what the last snapshot remembers. One small read for each segment: what was
 * changed inside a segment is found by `sm journal verify`.
 */
export function checkSegments(
  paths: Layout,
  segments: readonly SegmentFile[],
  anchor: readonly Anchored[] = [],
): Checked {
  const known = new Map(anchor.map((entry) => [entry.number, entry]))
  const open = anchor.at(-1)?.number ?? 0
  const anchored = new Map(known)
  const findings = missing(paths, segments, anchor)
  const packs = new Set(existsSync(paths.blobs) ? readdirSync(paths.blobs) : [])
  const packSizeOf = (pack: string) => (packs.has(basename(pack)) ? sizeOf(pack) : 0)
  for (const [i, segment] of segments.entries()) {
    const { number, firstSeq } = segment
    const entry = known.get(number)
    const isSettled = number < open
    const pack = packPath(paths.blobs, number)
    const packSize = packSizeOf(pack)
    const note = (file: string, reason: string) => findings.push({ segment: number, file, reason })
    const before = findings.length
    if (entry && (isSettled ? packSize !== entry.packBytes : packSize < entry.packBytes))
      note(pack, packSize === 0 ? 'is missing' : sizes(packSize, entry.packBytes))
    if (entry && isSettled && entry.firstSeq === firstSeq && isUnchanged(segment, entry)) continue
    const header = headerOf(segment)
    const size = sizeOf(segment.path)
    if ('problem' in header) {
      const { problem, reason } = header
      findings.push({
        segment: number,
        file: segment.path,
        reason,
        ...(problem === 'newer' && { isNewer: true }),
      })
      continue
    }
    if (entry && (entry.firstSeq !== firstSeq || entry.chain !== header.chain))
      note(segment.path, 'is not the segment that was here')
    else if (entry && (isSettled ? size !== entry.bytes : size < entry.bytes))
      note(segment.path, sizes(size, entry.bytes))
    else if (!isSettled && !isSeamless(segment, segments[i + 1]))
      note(segment.path, 'does not end where the next segment begins')
    if (findings.length > before) continue
    anchored.set(number, { number, firstSeq, chain: header.chain, bytes: size, packBytes: packSize })
  }
  return { findings, anchored }
}

const sizes = (found: number, written: number): string =>
  `has ${found} bytes, ${written} were written: it was ${found < written ? 'cut' : 'changed'}`

/** Numbers that nobody has, or that two files have. */
function missing(paths: Layout, segments: readonly SegmentFile[], anchor: readonly Anchored[]): Finding[] {
  const present = new Set<number>()
  const findings: Finding[] = []
  for (const { number, path } of segments) {
    if (present.has(number))
      findings.push({ segment: number, file: path, reason: 'is a second file with the number of a segment' })
    present.add(number)
  }
  const first = anchor[0]?.number ?? 1
  const last = Math.max(anchor.at(-1)?.number ?? 0, segments.at(-1)?.number ?? 0)
  const firstSeqs = new Map(anchor.map((entry) => [entry.number, entry.firstSeq]))
  for (let number = first; number <= last; number++) {
    if (present.has(number)) continue
    const path = segmentPath(paths.segments, number, firstSeqs.get(number) ?? 0)
    const file = firstSeqs.has(number) ? path : path.replace(/\d{12}\.jsonl$/, '*.jsonl')
    findings.push({ segment: number, file, reason: 'is missing' })
  }
  return findings
}

/** Whether a closed segment that no snapshot knows yet ends where the next one begins. */
function isSeamless(segment: SegmentFile, following: SegmentFile | undefined): boolean {
  const next = following && headerOf(following)
  // Of a next one that has no header something else is said.
  if (!next || 'problem' in next) return true
  const end = endOf(segment) ?? emptyEnd(segment)
  return end?.seq === next.firstSeq - 1 && end.chain === next.chain
}

/** A segment that was begun and then not written to ends where it began. */
function emptyEnd(segment: SegmentFile): Pick<Header, 'chain'> & { seq: number } {
  const header = headerOf(segment)
  return { seq: segment.firstSeq - 1, chain: 'problem' in header ? '' : header.chain }
}

const firstTail = 64 << 10

/** The seq and the chain that the last line of a segment ends with; nothing when that line is not whole. */
function endOf({ path }: SegmentFile): { seq: number; chain: string } | undefined {
  const fd = openSync(path, 'r')
  try {
    const { size } = fstatSync(fd)
    for (let length = firstTail; ; length *= 4) {
      const tail = Buffer.alloc(Math.min(length, size))
      readSync(fd, tail, 0, tail.length, size - tail.length)
      const start = tail.lastIndexOf('\n', -2)
      if (tail.at(-1) !== 0x0a) return undefined
      if (start === -1 && length < size) continue
      const line = tail.toString('utf8', start + 1, tail.length - 1)
      const lost = parseLost(line)
      return lost ? { seq: lost.to, chain: lost.chain } : parseCommit(line)
    }
  } finally {
    closeSync(fd)
  }
}

export const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** What the journal must reach at least: a seq that was given is never given again. */
export function acknowledgedSeq(
  snapshot: { readonly seq: number; readonly anchor?: readonly Anchored[] } | undefined,
  knownSeq = 0,
): number {
  const last = snapshot?.anchor?.at(-1)
  return Math.max(snapshot?.seq ?? 0, (last?.firstSeq ?? 1) - 1, knownSeq)
}

/** The refusal to write where a seq would be given twice. */
export function lostEnd(
  end: { readonly seq: number; readonly file: string | undefined },
  acknowledged: number,
): AppError {
  const { seq, file } = end
  return new AppError(
    'failed',
    `the journal ends at event ${seq}${file ? ` (${basename(file)})` : ''}, but event ${acknowledged} was already ` +
      'acknowledged: its last file was removed, cut or replaced. Nothing was changed, and nothing is written, so that no ' +
      'number is given twice. Restore the journal from a backup, or accept the loss with: sm journal verify --set-aside',
    { details: { seq, acknowledged } },
  )
}

/** The refusal to work on what only newer code understands. */
export const newerFormat = ({ file, reason }: Finding): AppError =>
  new AppError('failed', `${file} ${reason}`)
