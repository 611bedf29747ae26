import { commitLine, lineDigest, nextChain } from './format.ts'

/** One batch inside a group: where the journal stands after it, and who waits for it. */
export type Entry = {
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
export class Group {
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
