import { existsSync, statSync } from 'node:fs'
import { acknowledgedSeq, checkSegments, lostEnd, newerFormat } from '../../adapters/jsonl/anchor.ts'
import { DiskReader } from '../../adapters/jsonl/disk-reader.ts'
import { layout, listSegments, packPath, type SegmentFile } from '../../adapters/jsonl/format.ts'
import { setAsideDamage } from '../../adapters/jsonl/set-aside.ts'
import { loadSnapshot } from '../../adapters/jsonl/snapshots.ts'
import { verifyJournal } from '../../adapters/jsonl/verify.ts'
import { walkSegment } from '../../adapters/jsonl/walk.ts'
import { nearest } from '../../contract/config/nearest.ts'
import { Config } from '../../contract/config.ts'
import { AppError } from '../../contract/errors.ts'
import { catalogue, eventTypes, typeOfLine } from '../../contract/event.ts'
import type { Check, JournalStats } from '../../contract/health.ts'
import { fleet, shortId } from '../../contract/ids.ts'
import type { ExportFilter, JournalVerification, Offline } from '../../contract/offline.ts'
import { operatorName } from '../../core/messages/message-text.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import { followedSeq, type HomeFiles } from '../home.ts'
import { damagedCheck } from '../self-report.ts'

/** Reads every line and checks it; nothing is changed. */
export async function journalVerify(
  files: HomeFiles,
  onProgress: (bytes: number) => void,
  signal: AbortSignal,
): Promise<JournalVerification> {
  const dir = files.journal
  if (!existsSync(layout(dir).segments))
    return { ok: true, segments: 0, events: 0, bytes: 0, blobs: 0, damage: [] }
  const knownSeq = await followedSeq(files)
  const { damage, tail, ...counts } = await verifyJournal(dir, { knownSeq, onProgress, signal })
  return {
    ok: damage.length === 0,
    ...counts,
    damage: [...damage],
    ...(tail && { unfinished: { file: tail.file, bytes: tail.bytes, reason: tail.reason } }),
  }
}

const seqsPerEvent = 1000

/** Repairs the journal, and tells in it which lines were replaced: what the index has of them is no longer in the log. */
export async function journalSetAside(files: HomeFiles): ReturnType<Offline['journalSetAside']> {
  const done = await setAsideDamage(files.journal, await followedSeq(files))
  const seqs = done.flatMap((one) => one.seqs ?? [])
  if (seqs.length > 0) await tellErased(files, seqs)
  return done.map(({ seqs: _seqs, ...one }) => one)
}

async function tellErased(files: HomeFiles, seqs: readonly number[]): Promise<void> {
  // Nothing else that works without a daemon writes: only this loads what does.
  const [{ Journal }, { Engine }, { systemClock }, { systemIds }] = await Promise.all([
    import('../../adapters/jsonl/journal.ts'),
    import('../../engine/engine.ts'),
    import('../../adapters/system/clock.ts'),
    import('../../adapters/system/ids.ts'),
  ])
  const { journal: settings } = Config.parse({})
  const journal = await Journal.open({
    dir: files.journal,
    clock: systemClock,
    fsync: settings.fsync,
    groupMs: settings.group_commit_ms,
    groupEvents: settings.group_commit_events,
    segmentBytes: settings.segment_bytes,
    reserveBytes: settings.reserve_bytes,
    knownSeq: await followedSeq(files),
  })
  try {
    const engine = new Engine({
      journal,
      blobs: journal.blobs,
      clock: systemClock,
      ids: systemIds(systemClock),
      redact: (value) => ({ value, paths: [], counts: {} }),
      endedSession: async () => undefined,
    })
    await journal.load(engine.replay)
    for (let i = 0; i < seqs.length; i += seqsPerEvent)
      await engine.record([
        draftOf({ ...fleet, actor: operatorName }, 'journal.erased', {
          seqs: seqs.slice(i, i + seqsPerEvent),
          reason: 'damaged',
          by: operatorName,
        }),
      ])
  } finally {
    await journal.close()
  }
}

/** What a start would say of the journal, without starting and without reading it all. */
export async function journalCheck(files: HomeFiles): Promise<Check> {
  const paths = layout(files.journal)
  if (!existsSync(paths.segments)) return { name: 'journal', status: 'ok', detail: 'nothing was written yet' }
  const snapshot = loadSnapshot(paths.snapshots, () => true)
  const segments = listSegments(paths.segments)
  const { findings } = checkSegments(paths, segments, snapshot?.anchor)
  const newer = findings.find((finding) => finding.isNewer)
  if (newer) return refusedCheck(newerFormat(newer))
  const seq = await lastSeq(segments)
  const acknowledged = acknowledgedSeq(snapshot, await followedSeq(files))
  if (seq < acknowledged) return refusedCheck(lostEnd({ seq, file: segments.at(-1)?.path }, acknowledged))
  if (findings.length > 0) return damagedCheck(findings.map(({ file, reason }) => `${file} ${reason}`))
  return { name: 'journal', status: 'ok', detail: `${seq} events` }
}

const refusedCheck = ({ message }: AppError): Check => ({
  name: 'journal',
  status: 'failed',
  detail: `the daemon cannot start: ${message}`,
})

/** The chosen events as they stand in the journal, oldest first, in bounded memory. */
export async function* journalExport(
  dir: string,
  filter: ExportFilter,
  signal: AbortSignal,
): AsyncGenerator<string> {
  for (const type of filter.types) refuseUnknown(type)
  if (!existsSync(layout(dir).segments)) return
  const segments = listSegments(layout(dir).segments)
  const reader = new DiskReader(() => segments)
  const types = new Set(filter.types)
  const end = await lastSeq(segments)
  let isFound = filter.session === undefined || filter.after > 0
  for (let after = filter.after; ; ) {
    signal.throwIfAborted()
    const page = await reader.page(after, 1000, end)
    if (page.length === 0) break
    for (const stored of page) {
      after = stored.seq
      if (filter.session && !isOf(stored.event.sessionId, filter.session)) continue
      isFound = true
      if (types.size > 0 && !types.has(typeOfLine(stored.line))) continue
      yield stored.line
    }
  }
  if (!isFound) throw new AppError('not_found', `no event of session '${filter.session}' in this journal`)
}

function refuseUnknown(type: string): void {
  if (Object.hasOwn(catalogue, type)) return
  const near = nearest(type, eventTypes)
  const hint = near === undefined ? 'docs/reference/events.md lists them' : `did you mean ${near}?`
  throw new AppError('invalid', `'${type}' is not an event type; ${hint}`)
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
