import { promises as fs } from 'node:fs'
import { basename, join } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import { syncFolder } from '../system/durable-files.ts'
import { lostEnd, sizeOf } from './anchor.ts'
import { type Layout, longestHeader, type SegmentFile } from './format.ts'
import { type Batch, type Damage, type Place, type Walked, walkSegment } from './walk.ts'

/** What was cut from the end of a segment, and where it is kept. */
export type Cut = {
  readonly segment: string
  readonly bytes: number
  readonly keptAs: string
  readonly reason: string
}

type Recovery = {
  readonly paths: Layout
  readonly from?: Place
  readonly continues?: Pick<Place, 'seq' | 'chain'> | undefined
  readonly isLast: boolean
  /** The last seq that is known to have been acknowledged. */
  readonly acknowledged: number
  readonly onBatch: (batch: Batch) => void
}

/**
 * Walks a segment, hands over its whole batches, and cuts an unfinished batch at the end of the last one. Damage before
 * whole batches is not a torn write: nothing is cut, because acknowledged events follow it. Nor is a batch that
 * somebody was told of.
 */
export async function recoverSegment(
  segment: SegmentFile,
  options: Recovery,
): Promise<{ end: Place; cut: Cut | undefined }> {
  const walked = await walkSegment(segment, { ...options, verify: true })
  const [first] = walked.damage
  if (first) throw damaged(first)
  const { end, tail } = walked
  if (options.isLast && end.seq < options.acknowledged)
    throw lostEnd({ seq: end.seq, file: segment.path }, options.acknowledged)
  if (!tail) return { end, cut: undefined }
  if (!options.isLast) throw damaged(tailDamage(segment, walked))
  return { end, cut: await cutTail(segment, walked, options.paths) }
}

/** Bytes after the last batch of a segment that was closed: no write was cut off there. */
export const tailDamage = (segment: SegmentFile, { end, tail }: Walked): Damage => ({
  file: segment.path,
  line: end.line + 1,
  offset: end.offset,
  seq: end.seq + 1,
  reason: `the segment was closed, but ${tail?.reason}`,
})

/**
 * A last segment without even a header: its daemon was killed while it began it, and nothing was ever written to it.
 * It is moved aside; whether more than that is missing is told by the events that are.
 */
export async function moveUnbegunAside(segment: SegmentFile, paths: Layout): Promise<Cut | undefined> {
  if (sizeOf(segment.path) >= longestHeader) return undefined
  const start = await fs.readFile(segment.path)
  if (start.includes('\n')) return undefined
  const keptAs = join(paths.aside, `${basename(segment.path)}.unbegun`)
  await fs.rename(segment.path, keptAs)
  await syncFolder(paths.aside)
  await syncFolder(paths.segments)
  const reason = 'the segment was not fully created'
  return { segment: basename(segment.path), bytes: start.length, keptAs, reason }
}

/** Keeps the bytes after the last whole batch beside the journal, and takes them off its end. */
export async function cutTail(segment: SegmentFile, walked: Walked, paths: Layout): Promise<Cut> {
  const tail = walked.tail as NonNullable<Walked['tail']>
  const keptAs = join(paths.aside, `${basename(segment.path)}.${tail.offset}`)
  const source = await fs.open(segment.path, 'r+')
  try {
    const { size } = await source.stat()
    const kept = await fs.open(keptAs, 'w', 0o600)
    try {
      await copyRange(source, kept, tail.offset)
      await kept.sync()
    } finally {
      await kept.close()
    }
    await syncFolder(paths.aside)
    await source.truncate(tail.offset)
    await source.sync()
    return { segment: basename(segment.path), bytes: size - tail.offset, keptAs, reason: tail.reason }
  } finally {
    await source.close()
  }
}

async function copyRange(from: fs.FileHandle, to: fs.FileHandle, offset: number): Promise<void> {
  const chunk = Buffer.allocUnsafe(1 << 20)
  for (let at = offset; ; ) {
    const { bytesRead } = await from.read(chunk, 0, chunk.length, at)
    if (bytesRead === 0) return
    await to.write(chunk, 0, bytesRead)
    at += bytesRead
  }
}

export function damaged(damage: Damage): AppError {
  return new AppError(
    'failed',
    `${damage.file} line ${damage.line ?? 1} (seq ${damage.seq}) is damaged: ${damage.reason}. ` +
      'Nothing was changed. Restore the file from a backup, or set the damaged batch aside with: ' +
      'sm journal verify --set-aside',
    { details: damage },
  )
}
