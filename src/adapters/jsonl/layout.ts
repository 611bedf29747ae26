import { readdirSync } from 'node:fs'
import { join } from 'node:path'

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
