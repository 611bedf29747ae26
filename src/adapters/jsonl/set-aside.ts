import { promises as fs, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import { foreignJson } from '../../contract/formats/foreign-json.ts'
import { syncFolder } from '../system/durable-files.ts'
import { acknowledgedSeq, checkSegments, newerFormat } from './anchor.ts'
import {
  type Commit,
  commitLine,
  digestAt,
  formatVersion,
  genesis,
  headerLine,
  headerOf,
  isCommit,
  isLost,
  type Layout,
  type Lost,
  layout,
  lineDigest,
  listSegments,
  lostLine,
  nextChain,
  parseCommit,
  parseLost,
  readHeader,
  type SegmentFile,
  segmentPath,
  seqOf,
  tombstone,
  tombstoneDigest,
} from './format.ts'
import { takeLock } from './lock-and-reserve.ts'
import { cutTail } from './recover.ts'
import { intactSnapshots, saveSnapshot } from './snapshots.ts'
import { lineGroups, type Place, type SegmentLine, type Walked, walkSegment } from './walk.ts'

/** What was done to one segment: lines that were replaced, events that are lost, and where the original is. */
type SetAside = {
  readonly file: string
  readonly lines: number
  /** The events whose lines were replaced. */
  readonly seqs?: readonly number[]
  readonly lost: number
  readonly original?: string
}

type End = Pick<Place, 'seq' | 'chain'>

/**
 * Makes a damaged journal one that opens again. A damaged line leaves a tombstone; where whole files or ends are gone,
 * a line says which events are lost, so that their numbers are not given again. What is damaged is kept beside it.
 */
export async function setAsideDamage(dir: string, knownSeq = 0): Promise<SetAside[]> {
  const paths = layout(dir)
  const lock = takeLock(paths.lock)
  try {
    const [newest] = intactSnapshots(paths.snapshots)
    const { findings } = checkSegments(paths, listSegments(paths.segments), newest?.anchor)
    const newer = findings.find((finding) => finding.isNewer)
    if (newer) throw newerFormat(newer)
    const done = await repair(paths, acknowledgedSeq(newest, knownSeq))
    if (done.length > 0 || findings.length > 0) await renewSnapshots(paths)
    return done
  } finally {
    lock.release()
  }
}

async function repair(paths: Layout, acknowledged: number): Promise<SetAside[]> {
  const done: SetAside[] = []
  let end: End = { seq: 0, chain: genesis }
  let before: { readonly segment: SegmentFile; readonly walked: Walked } | undefined
  for (const segment of listSegments(paths.segments)) {
    // What was added after it proves that nothing more was to come.
    if (before?.walked.tail) await cutTail(before.segment, before.walked, paths)
    const begin = await beginningOf(segment, { end, paths, done })
    if (begin.seq < end.seq || (begin.seq === end.seq && begin.chain !== end.chain))
      throw beyondRepair(segment.path, begin.seq)
    if (begin.seq > end.seq)
      done.push(...(await fillGap({ after: before?.segment, until: segment }, { end, begin, paths })))
    let walked = await walkSegment(segment, { verify: true, onBatch: () => {} })
    if (walked.damage.length > 0) {
      done.push(await mend(segment, paths))
      walked = await walkSegment(segment, { verify: true, onBatch: () => {} })
    }
    end = walked.end
    before = { segment, walked }
  }
  if (end.seq >= acknowledged) return done
  if (before?.walked.tail) await cutTail(before.segment, before.walked, paths)
  const lost = { from: end.seq + 1, to: acknowledged, chain: nextChain(end.chain, 'lost') }
  const file = before?.segment.path ?? (await standIn(1, { end, paths }))
  return [...done, await lose(file, lost)]
}

/** The beginning of a segment by its header; one that cannot be read is written again from the segment before it. */
async function beginningOf(
  segment: SegmentFile,
  { end, paths, done }: { end: End; paths: Layout; done: SetAside[] },
): Promise<End> {
  const header = headerOf(segment)
  if (!('problem' in header)) return { seq: header.firstSeq - 1, chain: header.chain }
  if (header.problem === 'foreign')
    throw new AppError(
      'failed',
      `${segment.path} ${header.reason}; give the files their own names again, or remove it and run this again: its events then count as lost`,
    )
  const bytes = await fs.readFile(segment.path)
  const rest = bytes.subarray(bytes.indexOf('\n') + 1)
  if (segment.firstSeq !== end.seq + 1 || rest.length === bytes.length)
    throw beyondRepair(segment.path, segment.firstSeq)
  const original = join(paths.aside, `${basename(segment.path)}.header`)
  await fs.rename(segment.path, original)
  const begun = await standIn(segment.number, { end, paths })
  await fs.appendFile(begun, rest, { flush: true })
  done.push({ file: segment.path, lines: 0, lost: 0, original })
  return end
}

/** Says between two segments which events are lost; each missing number gets a file, so that none is missed later. */
async function fillGap(
  { after, until }: { after: SegmentFile | undefined; until: SegmentFile },
  { end, begin, paths }: { end: End; begin: End; paths: Layout },
): Promise<SetAside[]> {
  const lost = { from: end.seq + 1, to: begin.seq, chain: begin.chain }
  const next = (after?.number ?? 0) + 1
  if (after && next === until.number) return [await lose(after.path, lost)]
  if (next >= until.number) throw beyondRepair(until.path, begin.seq)
  const filled = [await lose(await standIn(next, { end, paths }), lost)]
  for (let number = next + 1; number < until.number; number++) await standIn(number, { end: begin, paths })
  return filled
}

/** A new segment in the place of one that is gone: only its header. */
async function standIn(number: number, { end, paths }: { end: End; paths: Layout }): Promise<string> {
  const firstSeq = end.seq + 1
  const path = segmentPath(paths.segments, number, firstSeq)
  const header = headerLine({
    version: formatVersion,
    minReader: formatVersion,
    segment: number,
    firstSeq,
    chain: end.chain,
    createdAt: statSync(paths.segments).mtime.toISOString(),
  })
  await fs.writeFile(path, header, { flag: 'wx', mode: 0o600, flush: true })
  await syncFolder(paths.segments)
  return path
}

async function lose(file: string, lost: Lost): Promise<SetAside> {
  await fs.appendFile(file, lostLine(lost), { flush: true })
  return { file, lines: 0, lost: lost.to - lost.from + 1 }
}

/** Snapshots go on from where their events are now, and remember the files as they are now. */
async function renewSnapshots(paths: Layout): Promise<void> {
  const segments = listSegments(paths.segments)
  const anchor = [...checkSegments(paths, segments).anchored.values()].sort((a, b) => a.number - b.number)
  for (const snapshot of intactSnapshots(paths.snapshots)) {
    const segment = segments.findLast(({ firstSeq }) => firstSeq <= Math.max(1, snapshot.seq))
    let place: Place | undefined
    if (segment)
      await walkSegment(segment, {
        verify: false,
        onBatch: ({ end }) => {
          if (end.seq >= snapshot.seq) place ??= end
        },
      })
    if (segment && place)
      await saveSnapshot(paths.snapshots, { ...snapshot, segment: segment.number, place, anchor })
  }
}

const beyondRepair = (file: string, seq: number): AppError =>
  new AppError(
    'failed',
    `${file} is damaged beyond repair near seq ${seq}; restore it from a backup, or remove it and run this again: its events then count as lost`,
  )

type Line = { readonly text: string; readonly digest: string }

async function mend(segment: SegmentFile, paths: Layout): Promise<SetAside> {
  const fresh = `${segment.path}.new`
  const out = await fs.open(fresh, 'w', 0o600)
  const replaced: number[] = []
  try {
    let chain: string | undefined
    let seq = segment.firstSeq - 1
    let lines: Line[] = []
    for await (const group of lineGroups(segment.path)) {
      let text = ''
      for (const line of group.flatMap(splitCommit)) {
        if (chain === undefined) {
          const header = readHeader(line.text, segment)
          if ('problem' in header) throw beyondRepair(segment.path, segment.firstSeq)
          chain = header.chain
          text += `${line.text}\n`
        } else if (!line.whole) text += line.text
        else if (isLost(line.text)) {
          const lost = parseLost(line.text)
          if (!lost) throw beyondRepair(segment.path, seq + 1)
          text += lostLine(lost)
          chain = lost.chain
          seq = lost.to
        } else if (isCommit(line.text)) {
          const batch = mendBatch(lines, { commit: parseCommit(line.text), chain, seq, file: segment.path })
          text += batch.text
          replaced.push(...batch.replaced)
          chain = batch.commit.chain
          seq = batch.commit.seq
          lines = []
        } else lines.push({ text: line.text, digest: tombstoneDigest(line.text) ?? lineDigest(line.bytes) })
      }
      await out.write(text)
    }
    // A whole line that is no event can only have been the commit line of the last batch.
    const last = lines.findIndex((line) => Number.isNaN(seqOf(line.text)))
    const rest =
      last > 0 && chain !== undefined
        ? mendBatch(lines.slice(0, last), { commit: undefined, chain, seq, file: segment.path })
        : { text: lines.map((line) => `${line.text}\n`).join(''), replaced: [] }
    replaced.push(...rest.replaced)
    await out.write(rest.text)
    await out.sync()
  } finally {
    await out.close()
  }
  const original = join(paths.aside, `${basename(segment.path)}.damaged`)
  await fs.rename(segment.path, original)
  await fs.rename(fresh, segment.path)
  await syncFolder(paths.aside)
  await syncFolder(paths.segments)
  return { file: segment.path, lines: replaced.length, seqs: replaced, lost: 0, original }
}

/** A commit line whose newline before it was damaged stands at the end of the line before it; one may have lost its own. */
function splitCommit(line: SegmentLine): SegmentLine[] {
  const { bytes } = line
  const whole = bytes.toString('utf8', 0, bytes.length - 1)
  if (!line.whole && isCommit(whole) && parseCommit(whole)) return [{ ...line, text: whole, whole: true }]
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

type Mended = { readonly text: string; readonly commit: Commit; readonly replaced: readonly number[] }

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
    return { ...rest, text: first.text + rest.text, replaced: [...first.replaced, ...rest.replaced] }
  }
  return withTombstones(lines, rebuiltCommit(lines, known), seq)
}

function withTombstones(lines: readonly Line[], commit: Commit, seq: number): Mended {
  const byDigest = new Map(lines.map((line) => [line.digest, line.text]))
  const replaced: number[] = []
  let text = ''
  for (let i = 0; i < commit.n; i++) {
    const digest = digestAt(commit, i)
    const intact = byDigest.get(digest)
    if (intact === undefined) replaced.push(seq + 1 + i)
    text += `${intact ?? tombstone(seq + 1 + i, digest, 'damaged')}\n`
  }
  return { text: text + commitLine(commit), commit, replaced }
}

/** The commit line itself is damaged: it follows from its lines, if these are whole. */
function rebuiltCommit(lines: readonly Line[], { chain, seq, file }: Known): Commit {
  if (lines.some(({ text }, i) => seqOf(text) !== seq + 1 + i || foreignJson(text) === undefined))
    throw beyondRepair(file, seq + 1)
  const digests = lines.map((line) => line.digest).join('')
  return { n: lines.length, seq: seq + lines.length, chain: nextChain(chain, digests), lines: digests }
}
