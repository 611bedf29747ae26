import { promises as fs } from 'node:fs'
import { basename, join } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import { syncFolder } from '../system/durable-files.ts'
import type { Layout, SegmentFile } from './format.ts'
import { type Batch, type Damage, type Place, type Walked, walkSegment } from './walk.ts'

/** What was cut from the end of a segment, and where it is kept. */
export type Cut = {
  readonly segment: string
  readonly bytes: number
  readonly keptAs: string
  readonly reason: string
}

/**
 * Walks the last segment, hands over its whole batches, and cuts an unfinished batch at its end.
 * Damage before whole batches is not a torn write: nothing is cut, because acknowledged events follow it.
 */
export async function recoverSegment(
  segment: SegmentFile,
  options: { paths: Layout; from?: Place; continues?: Place | undefined; onBatch: (batch: Batch) => void },
): Promise<{ end: Place; cut: Cut | undefined }> {
  const walked = await walkSegment(segment, { ...options, verify: true })
  const [first] = walked.damage
  if (first) throw damaged(first)
  if (!walked.tail) return { end: walked.end, cut: undefined }
  return { end: walked.end, cut: await cutTail(segment, walked, options.paths) }
}

async function cutTail(segment: SegmentFile, walked: Walked, paths: Layout): Promise<Cut> {
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
    `${damage.file} line ${damage.line} (seq ${damage.seq}) is damaged: ${damage.reason}. ` +
      'Nothing was changed. Restore the file from a backup, or set the damaged batch aside with: ' +
      'sm journal verify --set-aside',
    { details: damage },
  )
}
