import { closeSync } from 'node:fs'
import { AppError } from '../../contract/errors.ts'
import type { Clock } from '../../ports/clock.ts'
import type { BlobPacks } from './blob-packs.ts'
import type { FileOps } from './file-ops.ts'
import { commitLine, lineDigest, nextChain, type SegmentFile } from './format.ts'
import type { Lock } from './lock-and-reserve.ts'
import type { Place } from './walk.ts'

/** When a group of batches is made durable. */
export type FsyncPolicy = 'group' | 'always' | 'never'

/** The segment being written. */
export type OpenSegment = { readonly file: SegmentFile; readonly fd: number; place: Place }

type Deps = {
  readonly clock: Clock
  readonly ops: FileOps
  readonly lock: Lock
  readonly blobs: BlobPacks
  readonly fsync: FsyncPolicy
  readonly groupMs: number
  readonly groupEvents: number
  readonly segmentBytes: number
  readonly rotate: (place: Place) => Promise<OpenSegment>
  readonly onDurable: (lines: readonly string[]) => void
}

type Mark = {
  readonly seq: number
  readonly resolve: (at: { file: SegmentFile; place: Place }) => void
  readonly reject: (error: Error) => void
}

const groupBytes = 8 << 20
const maxPendingBytes = 512 << 20

/**
 * Group commit: batches queue while a write is under way and go to disk together, each whole.
 * After any failure the writer is poisoned for good: its owner opens a new one from what is on disk.
 */
export class Writer {
  readonly #deps: Deps
  #segment: OpenSegment
  #groups: Group[] = []
  #spare: Buffer | undefined
  #pendingEvents = 0
  #pendingBytes = 0
  #seq: number
  #chain: string
  #flushing: Promise<void> | undefined
  #lastFlushAt = Number.NEGATIVE_INFINITY
  #failure: AppError | undefined
  #marks: Mark[] = []

  constructor(segment: OpenSegment, deps: Deps) {
    this.#segment = segment
    this.#deps = deps
    this.#seq = segment.place.seq
    this.#chain = segment.place.chain
  }

  get failure(): AppError | undefined {
    return this.#failure
  }

  get segment(): OpenSegment {
    return this.#segment
  }

  get pendingEvents(): number {
    return this.#pendingEvents
  }

  nextSeq(): number {
    return this.#seq + 1
  }

  append(lines: readonly string[]): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure)
    if (this.#pendingBytes > maxPendingBytes)
      return Promise.reject(
        new AppError('limited', 'the journal cannot keep up with writing; try again in a moment'),
      )
    const group = this.#filling()
    const before = group.size
    this.#seq += lines.length
    this.#chain = group.add(lines, { seq: this.#seq, chain: this.#chain })
    this.#pendingEvents += lines.length
    this.#pendingBytes += group.size - before
    return new Promise((resolve, reject) => {
      group.entries.push({ lines, seq: this.#seq, chain: this.#chain, end: group.size, resolve, reject })
      this.#flushing ??= this.#flush()
    })
  }

  /** Where the journal stands after a seq that was appended last in its batch; resolves when that is durable. */
  placeAfter(seq: number): Promise<{ file: SegmentFile; place: Place }> {
    if (this.#failure) return Promise.reject(this.#failure)
    const { file, place } = this.#segment
    if (place.seq === seq) return Promise.resolve({ file, place })
    return new Promise((resolve, reject) => {
      this.#marks.push({ seq, resolve, reject })
    })
  }

  /** Resolves when nothing is left to write. */
  async drained(): Promise<void> {
    while (this.#flushing) await this.#flushing
  }

  close(): void {
    closeSync(this.#segment.fd)
  }

  #filling(): Group {
    const last = this.#groups.at(-1)
    const isOpen = last && last.size < groupBytes && this.#deps.fsync !== 'always'
    if (isOpen) return last
    const group = new Group(this.#spare)
    this.#spare = undefined
    this.#groups.push(group)
    return group
  }

  async #flush(): Promise<void> {
    try {
      while (this.#groups.length > 0 && !this.#failure) {
        await this.#groupWindow()
        const group = this.#groups.shift() as Group
        await this.#write(group)
        this.#spare = group.buffer()
      }
    } finally {
      this.#flushing = undefined
    }
  }

  /** A lone append goes at once; only under load does it wait for company. */
  async #groupWindow(): Promise<void> {
    if (this.#deps.fsync !== 'group' || this.#pendingEvents >= this.#deps.groupEvents) return
    const waitMs = this.#lastFlushAt + this.#deps.groupMs - this.#deps.clock.monotonic()
    if (waitMs > 0) await this.#deps.clock.sleep(waitMs, never)
  }

  async #write(group: Group): Promise<void> {
    try {
      this.#lastFlushAt = this.#deps.clock.monotonic()
      if (!this.#deps.lock.held())
        throw new AppError(
          'unavailable',
          'the journal lock file was removed or replaced while this daemon ran; stop any second daemon, then: sm up',
        )
      await this.#deps.blobs.flush()
      const { fd, place } = this.#segment
      await this.#deps.ops.write(fd, group.bytes(), place.offset)
      await this.#advance(group)
    } catch (error) {
      this.#poison(group, error)
    }
  }

  async #advance(group: Group): Promise<void> {
    const { offset } = this.#segment.place
    for (const { seq, chain, end, lines } of group.entries) {
      const line = this.#segment.place.line + lines.length + 1
      this.#segment.place = { offset: offset + end, line, seq, chain }
      this.#passMarks()
    }
    this.#pendingEvents -= group.events
    this.#pendingBytes -= group.size
    for (const entry of group.entries) {
      this.#deps.onDurable(entry.lines)
      entry.resolve()
    }
    if (this.#segment.place.offset >= this.#deps.segmentBytes)
      this.#segment = await this.#deps.rotate(this.#segment.place)
  }

  #passMarks(): void {
    const { file, place } = this.#segment
    for (const mark of this.#marks) if (mark.seq === place.seq) mark.resolve({ file, place })
    this.#marks = this.#marks.filter((mark) => mark.seq > place.seq)
  }

  #poison(group: Group, cause: unknown): void {
    this.#failure = cause instanceof AppError ? cause : writeFailure(cause)
    for (const { entries } of [group, ...this.#groups])
      for (const entry of entries) entry.reject(this.#failure)
    for (const mark of this.#marks) mark.reject(this.#failure)
    this.#marks = []
    this.#groups = []
    this.#pendingEvents = 0
    this.#pendingBytes = 0
  }
}

const never = new AbortController().signal

/** One batch inside a group: where the journal stands after it, and who waits for it. */
type Entry = {
  readonly lines: readonly string[]
  readonly seq: number
  readonly chain: string
  /** Where the batch ends inside the group. */
  readonly end: number
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

const newline = 0x0a
const startBytes = 1 << 20

/** Batches that go to disk together, encoded once into one buffer from which they are also hashed and written. */
class Group {
  readonly entries: Entry[] = []
  events = 0
  #buffer: Buffer
  #used = 0

  constructor(buffer: Buffer = Buffer.allocUnsafeSlow(startBytes)) {
    this.#buffer = buffer
  }

  get size(): number {
    return this.#used
  }

  /** What is to be written; valid until the buffer is given on. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#used)
  }

  /** The memory, for the next group. */
  buffer(): Buffer {
    return this.#buffer
  }

  /** Encodes the lines of a batch and its commit; answers the chain after it. */
  add(lines: readonly string[], { seq, chain }: { seq: number; chain: string }): string {
    let digests = ''
    for (const line of lines) {
      const from = this.#used
      this.#write(line)
      digests += lineDigest(this.#buffer.subarray(from, this.#used))
      this.#buffer[this.#used++] = newline
    }
    const next = nextChain(chain, digests)
    this.#write(commitLine({ n: lines.length, seq, chain: next, lines: digests }))
    this.events += lines.length
    return next
  }

  #write(text: string): void {
    // A UTF-16 unit becomes three bytes at most.
    const most = this.#used + text.length * 3 + 1
    if (most > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(most, this.#buffer.length * 2))
      this.#buffer.copy(larger, 0, 0, this.#used)
      this.#buffer = larger
    }
    this.#used += this.#buffer.write(text, this.#used, 'utf8')
  }
}

const cures: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full; free some space, the daemon then continues by itself',
  EDQUOT: 'the disk quota is used up; free some space, the daemon then continues by itself',
  EROFS: 'the file system is read-only; remount it writable, then run: sm up',
  EACCES: 'the state folder is not writable by this user; fix it with chown or chmod, then run: sm up',
  EIO: 'the disk reported an I/O error; check it (dmesg), move the state folder if needed, then run: sm up',
}

/** What the operating system said, in words that name the cure. */
export function writeFailure(cause: unknown): AppError {
  const errno = (cause as NodeJS.ErrnoException | undefined)?.code ?? 'unknown'
  const message = `the journal could not be written (${errno}): ${cures[errno] ?? 'see the daemon log'}`
  return new AppError('unavailable', message, { cause, details: { errno } })
}
