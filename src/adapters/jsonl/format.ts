import { hash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import type { AgentEvent } from '../../contract/event.ts'
import { foreignJson, foreignLine } from '../../contract/formats/foreign-json.ts'
import type { StoredEvent } from '../../ports/journal.ts'

/** What this code writes, and the oldest code that may read it. Since 2 an event says who stands behind it. */
export const formatVersion = 2

/** The chain before the first batch of the first segment. */
export const genesis = '0'.repeat(64)

const digestLength = 32

export type Header = {
  readonly version: number
  readonly minReader: number
  readonly segment: number
  readonly firstSeq: number
  readonly chain: string
  readonly createdAt: string
  /** Of the rest of the line. Segments of before have none. */
  readonly digest?: string
}

/** Read by hand: every start reads the header of every segment, before anything is warm. */
function parseHeader(line: string): Header | undefined {
  const header = foreignLine(line)?.['journal'] as Partial<Header> | undefined
  const numbers = [header?.version, header?.minReader, header?.segment, header?.firstSeq]
  const texts = [header?.chain, header?.createdAt, header?.digest ?? '']
  const isWhole = numbers.every(Number.isInteger) && texts.every((text) => typeof text === 'string')
  return isWhole ? (header as Header) : undefined
}

/** A commit line closes a batch: how many lines, the last seq, a digest for each line, and the chain so far. */
export type Commit = { n: number; seq: number; chain: string; lines: string }

export function headerLine(header: Omit<Header, 'digest'>): string {
  const digest = lineDigest(JSON.stringify({ journal: header }))
  return `${JSON.stringify({ journal: { ...header, digest } })}\n`
}

/** What is wrong with the first line of a segment: it is damaged, too new for this code, or of another segment. */
export type HeaderProblem = { readonly problem: 'damaged' | 'newer' | 'foreign'; readonly reason: string }

/** The header of a segment, or why this file cannot be the segment that its name says. */
export function readHeader(line: string, segment: SegmentFile): Header | HeaderProblem {
  const header = parseHeader(line)
  if (!header)
    return { problem: 'damaged', reason: 'does not begin with a journal header: damaged, or not a segment' }
  if (header.version > formatVersion && header.minReader > formatVersion)
    return {
      problem: 'newer',
      reason: `was written by a newer Muster (format ${header.version}); upgrade this one`,
    }
  if (!isAsWritten(line, header)) return { problem: 'damaged', reason: 'has a damaged header' }
  if (header.segment !== segment.number || header.firstSeq !== segment.firstSeq)
    return {
      problem: 'foreign',
      reason: `holds segment ${header.segment} from seq ${header.firstSeq}, not what its name says`,
    }
  return header
}

/** A header without a digest is an old one: those were always written in this order, and in no newer format. */
function isAsWritten(line: string, header: Header): boolean {
  const { digest } = header
  if (digest === undefined) return header.version <= formatVersion && oldHeaderLine(header) === line
  return lineDigest(line.replace(`,"digest":"${digest}"`, '')) === digest
}

function oldHeaderLine({ version, minReader, segment, firstSeq, chain, createdAt }: Header): string {
  return JSON.stringify({ journal: { version, minReader, segment, firstSeq, chain, createdAt } })
}

export const longestHeader = 1024
const headerBytes = Buffer.allocUnsafe(longestHeader)

/** The header of a segment on disk, or what is wrong with it. */
export const headerOf = (segment: SegmentFile): Header | HeaderProblem =>
  readHeader(startOf(segment.path).line, segment)

/** Whether a segment is as large as it was and has the header it had; nothing is parsed, since a start asks for each. */
export function isUnchanged(
  { path, number, firstSeq }: SegmentFile,
  { chain, bytes }: { readonly chain: string; readonly bytes: number },
): boolean {
  const { line, size } = startOf(path)
  const rest = `"segment":${number},"firstSeq":${firstSeq},"chain":"${chain}","createdAt":"`
  return (
    size === bytes && formats.some((start) => line.startsWith(start) && line.startsWith(rest, start.length))
  )
}

const formats = Array.from(
  { length: formatVersion },
  (_, i) => `{"journal":{"version":${i + 1},"minReader":${i + 1},`,
)

/** The first line of a file, and how large the file is. */
function startOf(path: string): { line: string; size: number } {
  const fd = openSync(path, 'r')
  try {
    const length = readSync(fd, headerBytes, 0, longestHeader, 0)
    const end = headerBytes.subarray(0, length).indexOf(0x0a)
    return { line: headerBytes.toString('utf8', 0, Math.max(0, end)), size: fstatSync(fd).size }
  } finally {
    closeSync(fd)
  }
}

/** Half of a sha256: enough to name a damaged line, and half the bytes in every commit. */
export const lineDigest = (line: string | Uint8Array): string =>
  hash('sha256', line, 'hex').slice(0, digestLength)

export const nextChain = (chain: string, digests: string): string => hash('sha256', chain + digests, 'hex')

export const isCommit = (line: string): boolean => line.startsWith('{"commit":')

export const commitLine = (commit: Commit): string => `${JSON.stringify({ commit })}\n`

export function parseCommit(line: string): Commit | undefined {
  const value = foreignJson(line) as { commit?: Partial<Commit> } | undefined
  const commit = value?.commit
  if (!commit || !Number.isInteger(commit.n) || !Number.isInteger(commit.seq)) return undefined
  if (typeof commit.chain !== 'string' || typeof commit.lines !== 'string') return undefined
  return commit as Commit
}

export const digestAt = (commit: Commit, i: number): string =>
  commit.lines.slice(i * digestLength, (i + 1) * digestLength)

/** Every event line begins with its seq, so that a scan need not parse the rest. */
export function seqOf(line: string): number {
  if (!line.startsWith('{"seq":')) return Number.NaN
  const end = line.indexOf(',', 7)
  return end === -1 ? Number.NaN : Number(line.slice(7, end))
}

/** A line read from disk; its event is parsed when somebody asks, since most followers only pass the text on. */
export class StoredLine implements StoredEvent {
  readonly seq: number
  readonly line: string
  #event: AgentEvent | undefined

  constructor(line: string, seq = seqOf(line)) {
    this.seq = seq
    this.line = line
  }

  get event(): AgentEvent {
    this.#event ??= parsed(this.line, this.seq)
    return this.#event
  }
}

function parsed(line: string, seq: number): AgentEvent {
  try {
    return JSON.parse(line) as AgentEvent
  } catch (cause) {
    const cure = 'see which with: sm journal verify'
    throw new AppError('failed', `the line of seq ${seq} in the journal is damaged; ${cure}`, { cause })
  }
}

/** Stands in the place of a line that was erased or damaged: the seq has no gap and the chain still holds. */
export const tombstone = (seq: number, digest: string, reason: string): string =>
  `{"seq":${seq},"tombstone":${JSON.stringify({ digest, reason })}}`

const tombstoneLine = /^\{"seq":\d+,"tombstone":\{"digest":"([0-9a-f]+)"/

/** The digest of the line a tombstone replaces; undefined for a line that is none. */
export const tombstoneDigest = (line: string): string | undefined =>
  line.startsWith(',"tombstone"', line.indexOf(',')) ? tombstoneLine.exec(line)?.[1] : undefined

export const isTombstone = (line: string): boolean => tombstoneDigest(line) !== undefined

/** Events that are gone for good: the line a person had put in their place, so that no seq is given twice. */
export type Lost = { readonly from: number; readonly to: number; readonly chain: string }

const lostBody = ({ from, to, chain }: Lost): string => JSON.stringify({ from, to, chain })

export const lostLine = (lost: Lost): string =>
  `{"lost":${lostBody(lost)},"digest":"${lineDigest(lostBody(lost))}"}\n`

export const isLost = (line: string): boolean => line.startsWith('{"lost":')

export function parseLost(line: string): Lost | undefined {
  const value = foreignJson(line) as { lost?: Lost } | undefined
  return value?.lost && lostLine(value.lost) === `${line}\n` ? value.lost : undefined
}

/** Where the parts of a journal live under its folder. */
export const layout = (dir: string) => ({
  dir,
  lock: join(dir, 'lock.db'),
  reserve: join(dir, 'reserve'),
  segments: join(dir, 'segments'),
  blobs: join(dir, 'blobs'),
  snapshots: join(dir, 'snapshots'),
  aside: join(dir, 'aside'),
})

export type Layout = ReturnType<typeof layout>

/** A segment on disk; its name carries its number and the first seq it may hold. */
export type SegmentFile = { readonly number: number; readonly firstSeq: number; readonly path: string }

const segmentName = /^(\d{6})-(\d{12})\.jsonl$/

export function segmentPath(folder: string, number: number, firstSeq: number): string {
  return join(folder, `${String(number).padStart(6, '0')}-${String(firstSeq).padStart(12, '0')}.jsonl`)
}

export const packPath = (folder: string, segment: number): string =>
  join(folder, `${String(segment).padStart(6, '0')}.pack`)

/** All segments, oldest first. */
export function listSegments(folder: string): SegmentFile[] {
  return readdirSync(folder)
    .flatMap((name) => {
      const match = segmentName.exec(name)
      return match ? [{ number: Number(match[1]), firstSeq: Number(match[2]), path: join(folder, name) }] : []
    })
    .sort((a, b) => a.number - b.number)
}
