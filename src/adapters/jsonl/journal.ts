import { closeSync, constants, fsyncSync, openSync, statSync, writeSync } from 'node:fs'
import { AppError } from '../../contract/errors.ts'
import type { AgentEvent } from '../../contract/event.ts'
import type { Clock } from '../../ports/clock.ts'
import type {
  JournalFinding,
  JournalHealth,
  JournalReader,
  JournalStats,
  JournalWriter,
  Replay,
  StoredEvent,
} from '../../ports/journal.ts'
import { privateFolder, syncFolder } from '../system/durable-files.ts'
import {
  type Anchored,
  acknowledgedSeq,
  checkSegments,
  type Finding,
  lostEnd,
  newerFormat,
  sizeOf,
} from './anchor.ts'
import { BlobPacks } from './blob-packs.ts'
import { DiskReader } from './disk-reader.ts'
import { durableWrites, type FileOps, systemFileOps } from './file-ops.ts'
import {
  formatVersion,
  genesis,
  headerLine,
  headerOf,
  isTombstone,
  type Layout,
  layout,
  listSegments,
  packPath,
  type SegmentFile,
  segmentPath,
} from './format.ts'
import { DiskReserve, type Lock, takeLock } from './lock-and-reserve.ts'
import { ReadAgain } from './read-again.ts'
import { Recent, Waiters } from './recent-events.ts'
import { type Cut, moveUnbegunAside, recoverSegment } from './recover.ts'
import { loadSnapshot, type Snapshot, saveSnapshot } from './snapshots.ts'
import type { Place } from './walk.ts'
import { type FsyncPolicy, type OpenSegment, Writer, writeFailure } from './writer.ts'

export type JournalOptions = {
  readonly dir: string
  readonly clock: Clock
  readonly fsync: FsyncPolicy
  readonly groupMs: number
  readonly groupEvents: number
  readonly segmentBytes: number
  readonly reserveBytes: number
  /** The last seq that others have seen: the index, the cursors of reactors. The journal must reach it. */
  readonly knownSeq?: number
  readonly ops?: FileOps
}

const { O_RDWR, O_CREAT, O_EXCL } = constants
const recentBytes = 2 << 20
const reserveCheckMs = 5000

/** The journal on disk: one writer, many readers, opened from its last snapshot. */
export class Journal implements JournalWriter, JournalReader {
  readonly blobs: BlobPacks
  readonly #options: JournalOptions
  readonly #ops: FileOps
  readonly #paths: Layout
  readonly #lock: Lock
  readonly #reserve: DiskReserve
  readonly #waiters = new Waiters()
  readonly #recent = new Recent(recentBytes)
  readonly #disk: DiskReader
  #segments: SegmentFile[]
  #writer: Writer | undefined
  #watermark = 0
  #snapshotSeq = 0
  #findings: readonly Finding[] = []
  /** What the next snapshot remembers of each segment, by its number. */
  readonly #anchored = new Map<number, Anchored>()
  readonly #readAgain = new ReadAgain()
  readonly #closing = new AbortController()
  #full = false
  #onRotate: () => void = () => {}
  #onDurable: (watermark: number) => void = () => {}

  private constructor(options: JournalOptions, lock: Lock) {
    this.#options = options
    this.#ops = options.ops ?? systemFileOps
    this.#paths = layout(options.dir)
    this.#lock = lock
    this.#reserve = new DiskReserve(this.#paths.reserve, options.reserveBytes)
    this.#segments = listSegments(this.#paths.segments)
    this.#disk = new DiskReader(() => this.#segments)
    this.blobs = new BlobPacks(this.#paths.blobs, this.#ops)
  }

  /** Takes the lock; reading and writing begin with `load`. */
  static async open(options: JournalOptions): Promise<Journal> {
    const paths = layout(options.dir)
    for (const folder of [paths.dir, paths.segments, paths.blobs, paths.snapshots, paths.aside])
      await privateFolder(folder)
    return new Journal(options, takeLock(paths.lock))
  }

  /** Checks that the segments are those of before, recovers the tail, and replays what the newest snapshot does not cover. */
  async load(replay: Replay): Promise<Cut | undefined> {
    const cut = await this.#load(replay, { isFirst: true })
    if (!this.#holds()) this.#becomeFull()
    return cut
  }

  /** Called after a rotation, when a snapshot is due. */
  onRotate(listener: () => void): void {
    this.#onRotate = listener
  }

  /** Called each time the watermark moves. */
  onDurable(listener: (watermark: number) => void): void {
    this.#onDurable = listener
  }

  nextSeq(): number {
    return this.#live().nextSeq()
  }

  append(lines: readonly string[]): Promise<void> {
    return this.#live().append(lines)
  }

  health(): JournalHealth {
    if (!this.#writer || this.#writer.failure) return 'poisoned'
    if (this.#full) return 'full'
    return this.#findings.length > 0 ? 'damaged' : 'ok'
  }

  /** What is different from what was left: found at the start without reading it all, or when it was read again. */
  findings(): readonly JournalFinding[] {
    return this.#findings
  }

  /** Reads one closed segment, each time the next one, and gives what is wrong with it and was not known. */
  async readOneAgain(): Promise<JournalFinding | undefined> {
    const found = await this.#readAgain.next(this.#segments, this.#findings, this.#closing.signal)
    if (found) this.#findings = [...this.#findings, found]
    return found
  }

  watermark(): number {
    return this.#watermark
  }

  oldest(): number {
    return this.#segments[0]?.firstSeq ?? 1
  }

  async page(after: number, limit: number): Promise<readonly StoredEvent[]> {
    return this.#recent.after(after, limit) ?? (await this.#disk.page(after, limit, this.#watermark))
  }

  wait(after: number, signal: AbortSignal): Promise<void> {
    if (after < this.#watermark) return Promise.resolve()
    return this.#waiters.wait(after, signal)
  }

  /**
   * After a failure: what was not acknowledged is cut, a new segment is begun (a failed sync is never
   * tried again on the same file), and state is folded again from disk.
   */
  async reopen(replay: Replay): Promise<Cut | undefined> {
    const failed = this.#writer
    if (!failed?.failure) return undefined
    const errno = (failed.failure.details as { errno?: string } | undefined)?.errno
    if (!this.#lock.held()) throw failed.failure
    try {
      if (errno === 'ENOSPC' || errno === 'EDQUOT') {
        this.#reserve.release()
        this.#becomeFull()
      }
      await this.#ops.truncate(failed.segment.fd, failed.segment.place.offset)
      failed.close()
      this.#writer = undefined
      this.blobs.close()
      return await this.#load(replay, { freshSegment: true })
    } catch (error) {
      throw error instanceof AppError ? error : writeFailure(error)
    }
  }

  /** Saves the state as of the last appended seq; call it in the same turn in which the state was taken. */
  async snapshot(state: unknown): Promise<void> {
    const writer = this.#live()
    const seq = writer.nextSeq() - 1
    const taken = JSON.stringify(state)
    const { file, place } = await writer.placeAfter(seq)
    this.#remember(writer.segment)
    const anchor = [...this.#anchored.values()].sort((a, b) => a.number - b.number)
    const snapshot = { seq, segment: file.number, place, anchor, state: JSON.parse(taken) as unknown }
    await saveSnapshot(this.#paths.snapshots, snapshot)
    this.#snapshotSeq = seq
  }

  stats(): JournalStats {
    return {
      segments: this.#segments.length,
      bytes: this.#segments.reduce((sum, segment) => sum + sizeOf(segment.path), 0),
      blobBytes: this.#segments.reduce((sum, s) => sum + sizeOf(packPath(this.#paths.blobs, s.number)), 0),
      snapshotSeq: this.#snapshotSeq,
      pending: this.#writer?.pendingEvents ?? 0,
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#writer?.drained()
    this.#writer?.close()
    this.#writer = undefined
    this.blobs.close()
    this.#lock.release()
  }

  #live(): Writer {
    if (!this.#writer)
      throw new AppError('unavailable', 'the journal is not open for writing; see: sm doctor')
    return this.#writer
  }

  async #load(
    replay: Replay,
    options: { readonly isFirst?: true; readonly freshSegment?: true },
  ): Promise<Cut | undefined> {
    let newest: Snapshot | undefined
    const snapshot = loadSnapshot(this.#paths.snapshots, (found) => {
      newest ??= found
      return isReached(found, this.#segments) && replay.restore(found.state)
    })
    this.#snapshotSeq = snapshot?.seq ?? 0
    const acknowledged = acknowledgedSeq(newest, this.#options.knownSeq)
    let cut = options.isFirst ? await this.#check(newest, acknowledged) : undefined
    const covered = snapshot?.seq ?? 0
    let end: Place | undefined
    for (const segment of this.#segments) {
      if (snapshot && segment.number < snapshot.segment) continue
      const from =
        snapshot?.segment === segment.number && snapshot.place.offset > 0 ? snapshot.place : undefined
      const recovered = await recoverSegment(segment, {
        paths: this.#paths,
        // Without a snapshot all is told from the first event on; a journal that begins later cannot.
        continues: end ?? (snapshot ? undefined : beforeAll),
        isLast: segment === this.#segments.at(-1),
        acknowledged,
        ...(from && { from }),
        onBatch: ({ lines }) => {
          for (const line of lines) {
            if (isTombstone(line)) continue
            const event = JSON.parse(line) as AgentEvent
            if (event.seq > covered) replay.event(event)
          }
        },
      })
      end = recovered.end
      cut ??= recovered.cut
    }
    const at = end ?? beforeAll
    if (at.seq < acknowledged) throw lostEnd({ seq: at.seq, file: undefined }, acknowledged)
    this.#watermark = at.seq
    const last = this.#segments.at(-1)
    if (last) this.#remember({ file: last, place: at })
    const isContinued = last && !options.freshSegment && this.#isContinuable(last)
    const segment = isContinued ? this.#continue(last, at) : await this.#begin(at)
    this.blobs.use(segment.file.number)
    this.#writer = this.#newWriter(segment)
    return cut
  }

  /** Compares the files with what the newest snapshot remembers; what is damaged of the past is told, and the rest goes on. */
  async #check(newest: Snapshot | undefined, acknowledged: number): Promise<Cut | undefined> {
    const last = this.#segments.at(-1)
    const unbegun =
      last && last.firstSeq > acknowledged ? await moveUnbegunAside(last, this.#paths) : undefined
    if (unbegun) this.#segments = this.#segments.slice(0, -1)
    const { findings, anchored } = checkSegments(this.#paths, this.#segments, newest?.anchor)
    const newer = findings.find((finding) => finding.isNewer)
    if (newer) throw newerFormat(newer)
    this.#findings = findings
    for (const [number, entry] of anchored) this.#anchored.set(number, entry)
    return unbegun
  }

  /**
   * Code that an older header allows to read it must not meet what only newer code understands. And what is damaged may
   * be restored from a backup, so nothing is added to it.
   */
  #isContinuable(last: SegmentFile): boolean {
    const header = headerOf(last)
    const isSound = this.#findings.every((finding) => finding.segment !== last.number)
    return isSound && !('problem' in header) && header.version === formatVersion
  }

  #continue(file: SegmentFile, place: Place): OpenSegment {
    return { file, fd: openSync(file.path, O_RDWR | this.#syncFlag()), place }
  }

  #syncFlag(): number {
    return this.#options.fsync === 'never' ? 0 : durableWrites
  }

  #newWriter(segment: OpenSegment): Writer {
    return new Writer(segment, {
      ...this.#options,
      ops: this.#ops,
      lock: this.#lock,
      blobs: this.blobs,
      rotate: async (place) => {
        const { file, fd } = this.#live().segment
        const next = await this.#begin(place)
        closeSync(fd)
        await this.blobs.turnTo(next.file.number)
        this.#remember({ file, place })
        this.#onRotate()
        return next
      },
      onDurable: (lines) => {
        this.#recent.push(lines, this.#watermark + 1)
        this.#watermark += lines.length
        this.#waiters.wake(this.#watermark)
        this.#onDurable(this.#watermark)
      },
    })
  }

  /** How large the open segment and its pack are by now; one that was found damaged is remembered as it was. */
  #remember({ file, place }: Pick<OpenSegment, 'file' | 'place'>): void {
    const entry = this.#anchored.get(file.number)
    if (!entry || this.#findings.some(({ segment }) => segment === file.number)) return
    const packBytes = sizeOf(packPath(this.#paths.blobs, file.number))
    this.#anchored.set(file.number, { ...entry, bytes: place.offset, packBytes })
  }

  async #begin(place: Place): Promise<OpenSegment> {
    const number = Math.max(0, ...this.#segments.map((s) => s.number), ...this.#anchored.keys()) + 1
    const firstSeq = place.seq + 1
    const file = { number, firstSeq, path: segmentPath(this.#paths.segments, number, firstSeq) }
    const header = headerLine({
      version: formatVersion,
      minReader: formatVersion,
      segment: number,
      firstSeq,
      chain: place.chain,
      createdAt: new Date(this.#options.clock.now()).toISOString(),
    })
    const fd = openSync(file.path, O_RDWR | O_CREAT | O_EXCL | this.#syncFlag(), 0o600)
    writeSync(fd, header)
    fsyncSync(fd)
    await syncFolder(this.#paths.segments)
    this.#segments = [...this.#segments, file]
    const bytes = Buffer.byteLength(header)
    this.#anchored.set(number, { number, firstSeq, chain: place.chain, bytes, packBytes: 0 })
    return { file, fd, place: { offset: bytes, line: 1, seq: place.seq, chain: place.chain } }
  }

  #becomeFull(): void {
    if (this.#full) return
    this.#full = true
    void this.#regainSpace(this.#closing.signal)
  }

  /** Looks for space from time to time, so that nobody who asks for the health has to wait for a disk. */
  async #regainSpace(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    while (this.#full) {
      await clock.sleep(reserveCheckMs, signal).catch(() => {})
      if (signal.aborted) return
      this.#full = !this.#holds()
    }
  }

  #holds(): boolean {
    try {
      return this.#reserve.hold()
    } catch {
      // A disk that cannot even be asked has nothing to give; what is wrong with it is told by the next write.
      return false
    }
  }
}

/** Where the first event of all goes. */
const beforeAll: Place = { offset: 0, line: 0, seq: 0, chain: genesis }

/** A snapshot is of no use when the journal does not reach its place any more: a file was cut or replaced. */
function isReached({ segment, place }: Snapshot, segments: readonly SegmentFile[]): boolean {
  const file = segments.find(({ number }) => number === segment)
  return file !== undefined && statSync(file.path).size >= place.offset
}
