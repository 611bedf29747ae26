import type { Clock } from '../ports/clock.ts'
import type { JournalReader, StoredEvent } from '../ports/journal.ts'
import type { ResyncReason, Start } from './cursor.ts'
import type { Projection } from './frames.ts'
import type { TokenQueue } from './live.ts'

/** Everything one stream needs. */
export type StreamOptions = {
  readonly journal: JournalReader
  readonly clock: Clock
  readonly projection: Projection
  readonly start: Start
  readonly heartbeatMs: number
  readonly stallMs: number
  readonly tokens?: TokenQueue
  /** Frames are gathered into one chunk up to about this size. */
  readonly chunkChars?: number
  /** Called once; `stalled` means the socket is full and must be cut, since nothing can be sent through it. */
  readonly onEnd?: (why: 'left' | 'stalled' | 'ended') => void
  readonly onBug: (error: unknown) => void
}

/** An open stream; `end` closes it from our side. */
export type OpenStream = { readonly body: ReadableStream<Uint8Array>; readonly end: () => void }

/** Opens a stream that asks the journal only when its client has room, so a slow client costs no memory. */
export function openStream(options: StreamOptions): OpenStream {
  const pump = new Pump(options)
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => pump.begin(controller),
      pull: () => pump.pull(),
      cancel: () => pump.end('left'),
    },
    // Nothing is made ahead: pull runs only when the socket asks for the next chunk.
    { highWaterMark: 0 },
  )
  return { body, end: () => pump.end('ended') }
}

const beat = ': beat\n\n'
const pageEvents = 64

class Pump {
  readonly #options: StreamOptions
  readonly #stop = new AbortController()
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #greeted = false
  #ended = false
  /** The last event whose frames were all sent or left out. */
  #after = 0
  /** A frame the client has of an event whose later frames it may not have. */
  #half: { readonly seq: number; readonly part: number } | undefined
  /** The id of the last frame passed, sent or left out. */
  #id = '0.0'
  /** Whether the client's own cursor is behind `#id`. */
  #isAgeing = false
  #page: readonly StoredEvent[] = []
  #sentAt: number
  /** Since when the client has not asked for more; undefined while it is asking. */
  #idleSince: number | undefined
  /** Ends the wait for something to send; undefined while nobody waits. */
  #wake: (() => void) | undefined
  #isHearing = false

  constructor(options: StreamOptions) {
    this.#options = options
    this.#sentAt = options.clock.monotonic()
    this.#idleSince = this.#sentAt
    options.tokens?.listen(() => this.#awake())
  }

  begin(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller
    void this.#watch()
  }

  async pull(): Promise<void> {
    this.#idleSince = undefined
    try {
      const chunk = await this.#next()
      // Encoded here, from a pool: a buffer for each frame would scatter the memory outside of the heap.
      if (chunk && !this.#ended) this.#controller?.enqueue(Buffer.from(chunk))
    } catch (error) {
      // An errored body would be printed into the stream; the client reconnects after a plain end.
      if (!this.#ended) this.#options.onBug(error)
      this.end('ended')
    } finally {
      this.#sentAt = this.#options.clock.monotonic()
      this.#idleSince = this.#sentAt
    }
  }

  end(why: 'left' | 'stalled' | 'ended'): void {
    if (this.#ended) return
    this.#ended = true
    this.#stop.abort()
    this.#awake()
    this.#options.tokens?.close()
    if (why !== 'left') this.#controller?.close()
    this.#options.onEnd?.(why)
  }

  /** Closes the stream of a client that does not read, and wakes one that has a heartbeat to send. */
  async #watch(): Promise<void> {
    const { clock, stallMs, heartbeatMs } = this.#options
    while (!this.#ended) {
      const left = this.#idleSince === undefined ? stallMs : this.#idleSince + stallMs - clock.monotonic()
      if (left <= 0) return this.end('stalled')
      const beatIn = this.#beatIn()
      if (beatIn <= 0) this.#awake()
      try {
        await clock.sleep(Math.min(left, beatIn > 0 ? beatIn : heartbeatMs), this.#stop.signal)
      } catch (error) {
        if (!this.#ended) this.#options.onBug(error)
        return
      }
    }
  }

  async #next(): Promise<string | undefined> {
    if (!this.#greeted) return this.#greet()
    while (!this.#ended) {
      const chunk = new Chunk(this.#options.chunkChars ?? 64 * 1024)
      this.#takeTokens(this.#after, chunk)
      await this.#collect(chunk)
      if (chunk.text !== '') return chunk.text
      if (this.#beatIn() <= 0) return this.#heartbeat()
      if (this.#after >= this.#options.journal.watermark()) await this.#wait()
    }
    return undefined
  }

  async #greet(): Promise<string> {
    this.#greeted = true
    const { start } = this.#options
    const retry = 'retry: 1000\n\n'
    if (start.kind === 'resume') {
      const { seq, part } = start.cursor
      const isHalf = seq > 0 && part !== undefined
      this.#after = isHalf ? seq - 1 : seq
      if (isHalf) this.#half = { seq, part }
      this.#id = `${seq}.${part ?? 0}`
      return retry
    }
    const skipped = start.kind === 'resync' ? await this.#resync(start.reason, start.asked) : undefined
    if (skipped) return `${retry}${skipped}`
    await this.#goLive()
    // With an id from the first moment, a client that is cut before any event still misses none.
    return `${retry}id: ${this.#id}\n\n`
  }

  async #resync(reason: ResyncReason, asked: string): Promise<string> {
    await this.#goLive()
    const { journal, projection } = this.#options
    const data = { reason, asked, oldest: journal.oldest(), seq: projection.seqOf(this.#after) }
    return `id: ${this.#id}\nevent: resync\ndata: ${JSON.stringify(data)}\n\n`
  }

  async #goLive(): Promise<void> {
    const { journal, projection } = this.#options
    this.#after = journal.watermark()
    this.#half = undefined
    this.#page = []
    const [last] = this.#after > 0 ? await journal.page(this.#after - 1, 1) : []
    this.#id = `${this.#after}.${last ? projection.parts(last) - 1 : 0}`
    this.#isAgeing = false
  }

  async #collect(chunk: Chunk): Promise<void> {
    if (this.#page.length === 0 && !(await this.#turnPage(chunk))) return
    let taken = 0
    for (const stored of this.#page) {
      if (chunk.isFull) break
      taken++
      await this.#take(stored, chunk)
    }
    this.#page = this.#page.slice(taken)
  }

  async #turnPage(chunk: Chunk): Promise<boolean> {
    const { journal } = this.#options
    const end = journal.watermark()
    if (end <= this.#after) return false
    // Pruned under a client that was slow: it must hear of the hole.
    if (this.#after + 1 < journal.oldest()) {
      chunk.push(await this.#resync('too_old', this.#id))
      return false
    }
    this.#page = await journal.page(this.#after, pageEvents)
    // Nothing readable up to a durable seq: going on past it, or this would ask for ever.
    if (this.#page.length === 0) chunk.push(this.#hole(`${end}.0`, end, 'unreadable'))
    return this.#page.length > 0
  }

  /** Events that were acknowledged and are not sent are named, so that no client takes what it has for all there is. */
  #hole(id: string, to: number, reason: 'unreadable' | 'not_shown'): string {
    const { journal, projection } = this.#options
    const data = {
      reason: reason satisfies ResyncReason,
      asked: this.#id,
      oldest: journal.oldest(),
      seq: projection.seqOf(to),
      missing: { from: this.#after + 1, to },
    }
    this.#half = undefined
    this.#after = to
    this.#id = id
    this.#isAgeing = false
    return `id: ${id}\nevent: resync\ndata: ${JSON.stringify(data)}\n\n`
  }

  async #take(stored: StoredEvent, chunk: Chunk): Promise<void> {
    const { projection } = this.#options
    this.#takeTokens(stored.seq - 1, chunk)
    if (stored.seq > this.#after + 1)
      chunk.push(this.#hole(`${stored.seq - 1}.0`, stored.seq - 1, 'unreadable'))
    let frames: readonly string[] = []
    let parts = 1
    try {
      parts = projection.parts(stored)
      frames = await projection.frames(stored)
    } catch (error) {
      // One event that cannot be shown must not stop every stream at its place for ever.
      this.#options.onBug(error)
      return chunk.push(this.#hole(`${stored.seq}.${parts - 1}`, stored.seq, 'not_shown'))
    }
    const owed = this.#half?.seq === stored.seq ? frames.slice(this.#half.part + 1) : frames
    for (const frame of owed) chunk.push(frame)
    this.#half = undefined
    this.#after = stored.seq
    this.#id = `${stored.seq}.${parts - 1}`
    this.#isAgeing = owed.length === 0
  }

  /** Words have their place among the events: what was said after a call comes after it. */
  #takeTokens(after: number, chunk: Chunk): void {
    for (const token of this.#options.tokens?.take(after) ?? []) chunk.push(token)
  }

  #beatIn(): number {
    const { clock, heartbeatMs } = this.#options
    return this.#sentAt + heartbeatMs - clock.monotonic()
  }

  // A block with an id and no data moves the client's cursor and shows it nothing.
  #heartbeat(): string {
    if (!this.#isAgeing) return beat
    this.#isAgeing = false
    return `id: ${this.#id}\n\n`
  }

  /** Until there is an event, a token, or a heartbeat to send; one promise, since each piece that is sent waits once. */
  #wait(): Promise<void> {
    void this.#hear()
    return new Promise((resolve) => {
      if (this.#ended || this.#options.tokens?.isEmpty === false) resolve()
      else this.#wake = resolve
    })
  }

  #awake(): void {
    this.#wake?.()
    this.#wake = undefined
  }

  /** Waits for the journal across as many tokens as come before its next event. */
  async #hear(): Promise<void> {
    if (this.#isHearing) return
    this.#isHearing = true
    try {
      await this.#options.journal.wait(this.#after, this.#stop.signal)
    } catch (error) {
      if (!this.#ended) this.#options.onBug(error)
      this.end('ended')
    }
    this.#isHearing = false
    this.#awake()
  }
}

class Chunk {
  readonly #limit: number
  text = ''

  constructor(limit: number) {
    this.#limit = limit
  }

  get isFull(): boolean {
    return this.text.length >= this.#limit
  }

  push(frame: string): void {
    this.text += frame
  }
}
