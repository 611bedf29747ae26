import { closeSync, constants, fsyncSync, openSync, statSync, writeSync } from 'node:fs'
import { AppError } from '../../contract/errors.ts'
import type { AgentEvent } from '../../contract/event.ts'
import type { Clock } from '../../ports/clock.ts'
import type {
  JournalHealth,
  JournalReader,
  JournalStats,
  JournalWriter,
  Replay,
  StoredEvent,
} from '../../ports/journal.ts'
import { privateFolder, syncFolder } from '../system/durable-files.ts'
import { BlobPacks } from './blob-packs.ts'
import { DiskReader } from './disk-reader.ts'
import { durableWrites, type FileOps, systemFileOps } from './file-ops.ts'
import {
  formatVersion,
  genesis,
  headerLine,
  isTombstone,
  type Layout,
  layout,
  listSegments,
  packPath,
  type SegmentFile,
  segmentPath,
} from './format.ts'
import { DiskReserve, type Lock, takeLock } from './lock-and-reserve.ts'
import { Recent, Waiters } from './recent-events.ts'
import { type Cut, recoverSegment } from './recover.ts'
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

  /** Recovers the tail and replays what the newest snapshot does not cover. */
  async load(replay: Replay): Promise<Cut | undefined> {
    const cut = await this.#load(replay)
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
    return this.#full ? 'full' : 'ok'
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
    await saveSnapshot(this.#paths.snapshots, { seq, segment: file.number, place, state: JSON.parse(taken) })
    this.#snapshotSeq = seq
  }

  stats(): JournalStats {
    const size = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
    return {
      segments: this.#segments.length,
      bytes: this.#segments.reduce((sum, segment) => sum + size(segment.path), 0),
      blobBytes: this.#segments.reduce((sum, s) => sum + size(packPath(this.#paths.blobs, s.number)), 0),
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

  async #load(replay: Replay, options: { freshSegment?: boolean } = {}): Promise<Cut | undefined> {
    const snapshot = loadSnapshot(
      this.#paths.snapshots,
      (found) => isReached(found, this.#segments) && replay.restore(found.state),
    )
    this.#snapshotSeq = snapshot?.seq ?? 0
    const covered = snapshot?.seq ?? 0
    let cut: Cut | undefined
    let end: Place | undefined
    for (const segment of this.#segments) {
      if (snapshot && segment.number < snapshot.segment) continue
      const from =
        snapshot?.segment === segment.number && snapshot.place.offset > 0 ? snapshot.place : undefined
      const recovered = await recoverSegment(segment, {
        paths: this.#paths,
        continues: end,
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
    const at = end ?? { offset: 0, line: 0, seq: 0, chain: genesis }
    this.#watermark = at.seq
    const last = this.#segments.at(-1)
    const segment = last && !options.freshSegment ? this.#continue(last, at) : await this.#begin(at)
    this.blobs.use(segment.file.number)
    this.#writer = this.#newWriter(segment)
    return cut
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
        const next = await this.#begin(place)
        closeSync(this.#live().segment.fd)
        await this.blobs.turnTo(next.file.number)
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

  async #begin(place: Place): Promise<OpenSegment> {
    const number = (this.#segments.at(-1)?.number ?? 0) + 1
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
    return {
      file,
      fd,
      place: { offset: Buffer.byteLength(header), line: 1, seq: place.seq, chain: place.chain },
    }
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

/** A snapshot is of no use when the journal does not reach its place any more: a file was cut or replaced. */
function isReached({ segment, place }: Snapshot, segments: readonly SegmentFile[]): boolean {
  const file = segments.find(({ number }) => number === segment)
  return file !== undefined && statSync(file.path).size >= place.offset
}
