import { promises as fs, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import { foreignJson } from '../../contract/formats/foreign-json.ts'
import { syncFolder } from '../system/durable-files.ts'
import {
  type Commit,
  commitLine,
  digestAt,
  isCommit,
  type Layout,
  layout,
  lineDigest,
  listSegments,
  nextChain,
  parseCommit,
  parseHeader,
  type SegmentFile,
  seqOf,
  tombstone,
  tombstoneDigest,
} from './format.ts'
import { takeLock } from './lock-and-reserve.ts'
import { type Damage, lineGroups, type Place, type SegmentLine, type Tail, walkSegment } from './walk.ts'

type Verified = {
  readonly segments: number
  readonly events: number
  readonly bytes: number
  readonly damage: readonly Damage[]
  /** An unfinished batch at the end: the next start cuts it, nothing acknowledged is in it. */
  readonly tail: (Tail & { readonly file: string }) | undefined
}

/** Reads every line, checks each digest, the chain over all segments and that seq has no gap. Changes nothing. */
export async function verifyJournal(
  dir: string,
  options: { onProgress?: (bytes: number) => void; signal?: AbortSignal } = {},
): Promise<Verified> {
  const segments = listSegments(layout(dir).segments)
  const damage: Damage[] = []
  let events = 0
  let bytes = 0
  let tail: Verified['tail']
  let before: Place | undefined
  for (const segment of segments) {
    const walked = await walkSegment(segment, {
      verify: true,
      continues: before,
      onBatch: ({ commit }) => {
        events += commit.n
      },
      ...(options.signal && { signal: options.signal }),
    })
    damage.push(...walked.damage)
    if (walked.tail) tail = { ...walked.tail, file: segment.path }
    before = walked.end
    bytes += statSync(segment.path).size
    options.onProgress?.(bytes)
  }
  return { segments: segments.length, events, bytes, damage, tail }
}

/** What was done to one segment. */
type SetAside = { readonly file: string; readonly lines: number; readonly original: string }

/**
 * Puts a tombstone in the place of each damaged line, so that a journal with a flipped byte opens again.
 * The damaged segment is kept whole beside it; intact lines of the same batch stay.
 */
export async function setAsideDamage(dir: string): Promise<SetAside[]> {
  const paths = layout(dir)
  const lock = takeLock(paths.lock)
  try {
    const done: SetAside[] = []
    for (const segment of listSegments(paths.segments)) {
      const { damage } = await walkSegment(segment, { verify: true, onBatch: () => {} })
      if (damage.length > 0) done.push(await mend(segment, paths))
    }
    return done
  } finally {
    lock.release()
  }
}

type Line = { readonly text: string; readonly digest: string }

async function mend(segment: SegmentFile, paths: Layout): Promise<SetAside> {
  const fresh = `${segment.path}.new`
  const out = await fs.open(fresh, 'w', 0o600)
  let replaced = 0
  try {
    let chain: string | undefined
    let seq = segment.firstSeq - 1
    let lines: Line[] = []
    for await (const group of lineGroups(segment.path)) {
      let text = ''
      for (const line of group.flatMap(splitCommit)) {
        if (chain === undefined) {
          chain = parseHeader(line.text, segment.path).chain
          text += `${line.text}\n`
        } else if (!line.whole) text += line.text
        else if (isCommit(line.text)) {
          const batch = mendBatch(lines, { commit: parseCommit(line.text), chain, seq, file: segment.path })
          text += batch.text
          replaced += batch.replaced
          chain = batch.commit.chain
          seq = batch.commit.seq
          lines = []
        } else lines.push({ text: line.text, digest: tombstoneDigest(line.text) ?? lineDigest(line.bytes) })
      }
      await out.write(text)
    }
    await out.write(lines.map((line) => `${line.text}\n`).join(''))
    await out.sync()
  } finally {
    await out.close()
  }
  const original = join(paths.aside, `${basename(segment.path)}.damaged`)
  await fs.rename(segment.path, original)
  await fs.rename(fresh, segment.path)
  await syncFolder(paths.aside)
  await syncFolder(paths.segments)
  return { file: segment.path, lines: replaced, original }
}

/** A commit line whose newline before it was damaged stands at the end of the line before it. */
function splitCommit(line: SegmentLine): SegmentLine[] {
  const { bytes } = line
  const at = bytes.lastIndexOf('{"commit":')
  if (at <= 0 || !line.whole || foreignJson(line.text) !== undefined) return [line]
  const text = bytes.toString('utf8', at)
  if (!parseCommit(text)) return [line]
  const before = bytes.subarray(0, at - 1)
  return [
    { ...line, text: before.toString('utf8'), bytes: before },
    { ...line, text, bytes: bytes.subarray(at) },
  ]
}

type Known = {
  readonly commit: Commit | undefined
  readonly chain: string
  readonly seq: number
  readonly file: string
}

type Mended = { readonly text: string; readonly commit: Commit; readonly replaced: number }

function mendBatch(lines: readonly Line[], known: Known): Mended {
  const { commit, chain, seq } = known
  // A commit that follows from the chain is to be believed; then what differs is a damaged line.
  if (commit && nextChain(chain, commit.lines) === commit.chain && commit.seq === seq + commit.n)
    return withTombstones(lines, commit, seq)
  // A commit line that no longer looks like one stands among the lines of the batch after it.
  const lost = lines.findIndex((line) => Number.isNaN(seqOf(line.text)))
  if (commit && lost > 0 && lines.length - lost - 1 === commit.n) {
    const first = mendBatch(lines.slice(0, lost), { ...known, commit: undefined })
    const rest = mendBatch(lines.slice(lost + 1), {
      ...known,
      chain: first.commit.chain,
      seq: first.commit.seq,
    })
    return { ...rest, text: first.text + rest.text, replaced: first.replaced + rest.replaced }
  }
  return withTombstones(lines, rebuiltCommit(lines, known), seq)
}

function withTombstones(lines: readonly Line[], commit: Commit, seq: number): Mended {
  const byDigest = new Map(lines.map((line) => [line.digest, line.text]))
  let replaced = 0
  let text = ''
  for (let i = 0; i < commit.n; i++) {
    const digest = digestAt(commit, i)
    const intact = byDigest.get(digest)
    if (intact === undefined) replaced += 1
    text += `${intact ?? tombstone(seq + 1 + i, digest, 'damaged')}\n`
  }
  return { text: text + commitLine(commit), commit, replaced }
}

/** The commit line itself is damaged: it follows from its lines, if these are whole. */
function rebuiltCommit(lines: readonly Line[], { chain, seq, file }: Known): Commit {
  if (lines.some(({ text }, i) => seqOf(text) !== seq + 1 + i || foreignJson(text) === undefined))
    throw new AppError(
      'failed',
      `${file} is damaged beyond repair near seq ${seq + 1}; restore it from a backup`,
    )
  const digests = lines.map((line) => line.digest).join('')
  return { n: lines.length, seq: seq + lines.length, chain: nextChain(chain, digests), lines: digests }
}
