import { closeSync } from 'node:fs'
import { AppError } from '../../contract/errors.ts'
import type { Clock } from '../../ports/clock.ts'
import type { StoredEvent } from '../../ports/journal.ts'
import type { BlobPacks } from './blob-packs.ts'
import type { FileOps } from './file-ops.ts'
import { commitLine, lineDigest, nextChain } from './format.ts'
import type { SegmentFile } from './layout.ts'
import type { Lock } from './lock.ts'
import type { Place } from './walk.ts'

/** When a group of batches is made durable. */
export type FsyncPolicy = 'group' | 'always' | 'never'

/** The segment being written. */
export type OpenSegment = { readonly file: SegmentFile; readonly fd: number; place: Place }

type Pending = {
  readonly events: readonly StoredEvent[]
  readonly text: string
  readonly place: { seq: number; chain: string; lines: number }
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

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
  readonly onDurable: (events: readonly StoredEvent[]) => void
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
  #pending: Pending[] = []
  #pendingEvents = 0
  #pendingBytes = 0
  #seq: number
  #chain: string
  #flushing: Promise<void> | undefined
  #lastFlushAt = Number.NEGATIVE_INFINITY
  #failure: AppError | undefined

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

  append(events: readonly StoredEvent[]): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure)
    if (this.#pendingBytes > maxPendingBytes)
      return Promise.reject(new AppError('limited', 'the journal is behind with writing; try again in a moment'))
    const parts: string[] = []
    let digests = ''
    for (const event of events) {
      parts.push(event.line)
      digests += lineDigest(event.line)
    }
    this.#seq += events.length
    this.#chain = nextChain(this.#chain, digests)
    const commit = commitLine({ n: events.length, seq: this.#seq, chain: this.#chain, lines: digests })
    parts.push(commit)
    const text = parts.join('\n')
    this.#pendingEvents += events.length
    this.#pendingBytes += text.length
    return new Promise((resolve, reject) => {
      const place = { seq: this.#seq, chain: this.#chain, lines: events.length + 1 }
      this.#pending.push({ events, text, place, resolve, reject })
      this.#flushing ??= this.#flush()
    })
  }

  /** Resolves when nothing is left to write. */
  async drained(): Promise<void> {
    while (this.#flushing) await this.#flushing
  }

  close(): void {
    closeSync(this.#segment.fd)
  }

  async #flush(): Promise<void> {
    try {
      while (this.#pending.length > 0 && !this.#failure) {
        await this.#groupWindow()
        const group = this.#take()
        await this.#write(group)
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

  #take(): Pending[] {
    let bytes = 0
    let count = 0
    while (count < this.#pending.length && (bytes < groupBytes || count === 0))
      bytes += (this.#pending[count++] as Pending).text.length
    return this.#pending.splice(0, this.#deps.fsync === 'always' ? 1 : count)
  }

  async #write(group: readonly Pending[]): Promise<void> {
    try {
      this.#lastFlushAt = this.#deps.clock.monotonic()
      if (!this.#deps.lock.held())
        throw new AppError(
          'unavailable',
          'the journal lock file was removed or replaced while this daemon ran; stop any second daemon, then: sm up',
        )
      const bytes = Buffer.from(group.map((entry) => entry.text).join(''))
      await this.#deps.blobs.flush()
      const { fd, place } = this.#segment
      await this.#deps.ops.write(fd, bytes, place.offset)
      if (this.#deps.fsync !== 'never') await this.#deps.ops.sync(fd)
      await this.#advance(group, bytes.length)
    } catch (error) {
      this.#poison(group, error)
    }
  }

  async #advance(group: readonly Pending[], bytes: number): Promise<void> {
    const last = (group.at(-1) as Pending).place
    const lines = group.reduce((sum, entry) => sum + entry.place.lines, 0)
    const { place } = this.#segment
    this.#segment.place = {
      offset: place.offset + bytes,
      line: place.line + lines,
      seq: last.seq,
      chain: last.chain,
    }
    for (const entry of group) {
      this.#pendingEvents -= entry.events.length
      this.#pendingBytes -= entry.text.length
      this.#deps.onDurable(entry.events)
      entry.resolve()
    }
    if (this.#segment.place.offset >= this.#deps.segmentBytes)
      this.#segment = await this.#deps.rotate(this.#segment.place)
  }

  #poison(group: readonly Pending[], cause: unknown): void {
    this.#failure = cause instanceof AppError ? cause : writeFailure(cause)
    for (const entry of [...group, ...this.#pending]) entry.reject(this.#failure)
    this.#pending = []
    this.#pendingEvents = 0
    this.#pendingBytes = 0
  }
}

const never = new AbortController().signal

/** What the operating system said, in words that name the cure. */
export function writeFailure(cause: unknown): AppError {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? 'unknown'
  const cure: Record<string, string> = {
    ENOSPC: 'the disk is full; free some space, the daemon goes on by itself',
    EDQUOT: 'the disk quota is used up; free some space, the daemon goes on by itself',
    EROFS: 'the file system is read-only; remount it writable, then: sm up',
    EACCES: 'the state folder is not writable by this user; give it back with chown or chmod, then: sm up',
    EIO: 'the disk reported an I/O error; check it (dmesg), move the state folder if needed, then: sm up',
  }
  return new AppError('unavailable', `the journal could not be written (${code}): ${cure[code] ?? 'see the daemon log'}`, {
    cause,
    details: { errno: code },
  })
}
