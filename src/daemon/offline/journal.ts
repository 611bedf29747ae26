import { existsSync, statSync } from 'node:fs'
import { DiskReader } from '../../adapters/jsonl/disk-reader.ts'
import { layout, listSegments, packPath, type SegmentFile } from '../../adapters/jsonl/format.ts'
import { loadSnapshot } from '../../adapters/jsonl/snapshots.ts'
import { verifyJournal } from '../../adapters/jsonl/verify.ts'
import { walkSegment } from '../../adapters/jsonl/walk.ts'
import { AppError } from '../../contract/errors.ts'
import { typeOfLine } from '../../contract/event.ts'
import type { JournalStats } from '../../contract/health.ts'
import { shortId } from '../../contract/ids.ts'
import type { ExportFilter, JournalVerification } from '../../contract/offline.ts'

/** Reads every line and checks it; nothing is changed. */
export async function journalVerify(
  dir: string,
  onProgress: (bytes: number) => void,
  signal: AbortSignal,
): Promise<JournalVerification> {
  if (!existsSync(layout(dir).segments)) return { ok: true, segments: 0, events: 0, bytes: 0, damage: [] }
  const { damage, tail, ...counts } = await verifyJournal(dir, { onProgress, signal })
  return {
    ok: damage.length === 0,
    ...counts,
    damage: damage.map(({ file, line, seq, reason }) => ({ file, line, seq, reason })),
    ...(tail && { unfinished: { file: tail.file, bytes: tail.bytes, reason: tail.reason } }),
  }
}

/** The chosen events as they stand in the journal, oldest first, in bounded memory. */
export async function* journalExport(
  dir: string,
  filter: ExportFilter,
  signal: AbortSignal,
): AsyncGenerator<string> {
  if (!existsSync(layout(dir).segments)) return
  const segments = listSegments(layout(dir).segments)
  const reader = new DiskReader(() => segments)
  const types = new Set(filter.types)
  const end = await lastSeq(segments)
  for (let after = filter.after; ; ) {
    signal.throwIfAborted()
    const page = await reader.page(after, 1000, end)
    if (page.length === 0) return
    for (const stored of page) {
      after = stored.seq
      if (types.size > 0 && !types.has(typeOfLine(stored.line))) continue
      if (filter.session && !isOf(stored.event.sessionId, filter.session)) continue
      yield stored.line
    }
  }
}

const isOf = (id: Parameters<typeof shortId>[0], wanted: string): boolean =>
  id === wanted || shortId(id) === wanted

/** Size and reach of a journal that no daemon has open. */
export async function journalStats(dir: string): Promise<JournalStats> {
  const paths = layout(dir)
  if (!existsSync(paths.segments))
    throw new AppError('not_found', `there is no journal at ${dir}; sm up creates one`)
  const segments = listSegments(paths.segments)
  const snapshot = loadSnapshot(paths.snapshots, () => true)
  const size = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  const state = snapshot?.state as { sessions?: unknown[]; producers?: unknown[] } | undefined
  return {
    segments: segments.length,
    bytes: segments.reduce((sum, segment) => sum + size(segment.path), 0),
    blobBytes: segments.reduce((sum, segment) => sum + size(packPath(paths.blobs, segment.number)), 0),
    oldestSeq: segments[0]?.firstSeq ?? 0,
    seq: await lastSeq(segments),
    snapshotSeq: snapshot?.seq ?? 0,
    openSessions: state?.sessions?.length ?? 0,
    producers: state?.producers?.length ?? 0,
  }
}

/** The seq of the last whole batch; what stands after it was never acknowledged. */
async function lastSeq(segments: readonly SegmentFile[]): Promise<number> {
  const last = segments.at(-1)
  return last ? (await walkSegment(last, { verify: false, onBatch: () => {} })).end.seq : 0
}
