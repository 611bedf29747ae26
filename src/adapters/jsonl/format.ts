import { hash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { AppError } from '../../contract/errors.ts'
import type { AgentEvent } from '../../contract/event.ts'
import { foreignJson } from '../../contract/formats/foreign-json.ts'
import type { StoredEvent } from '../../ports/journal.ts'

/** What this code writes, and the oldest code that may read it. */
export const formatVersion = 1

/** The chain before the first batch of the first segment. */
export const genesis = '0'.repeat(64)

const digestLength = 32

const Header = z.object({
  journal: z.object({
    version: z.int(),
    minReader: z.int(),
    segment: z.int(),
    firstSeq: z.int(),
    chain: z.string(),
    createdAt: z.string(),
  }),
})

type Header = z.infer<typeof Header>['journal']

/** A commit line closes a batch: how many lines, the last seq, a digest for each line, and the chain so far. */
export type Commit = { n: number; seq: number; chain: string; lines: string }

export const headerLine = (header: Header): string => `${JSON.stringify({ journal: header })}\n`

export function parseHeader(line: string, file: string): Header {
  const parsed = Header.safeParse(foreignJson(line))
  if (!parsed.success)
    throw new AppError('failed', `${file} does not begin with a journal header; move it away or restore it`)
  if (parsed.data.journal.minReader > formatVersion)
    throw new AppError(
      'failed',
      `${file} was written by a newer Muster (format ${parsed.data.journal.version}); upgrade this one`,
    )
  return parsed.data.journal
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
