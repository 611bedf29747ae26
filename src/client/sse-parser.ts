/** One block of an event stream. Without data it dispatches nothing, but may still move the cursor. */
export type Block = {
  readonly id: string
  readonly event: string
  readonly data: string | undefined
  readonly retryMs: number | undefined
}

/** Reads an event stream from pieces cut anywhere; a block that was not finished is never given out. */
export class SseParser {
  readonly #decoder = new TextDecoder()
  readonly #maxChars: number
  #text = ''
  #scanned = 0
  #id: string
  #event = ''
  #data: string[] = []
  #chars = 0
  #retryMs: number | undefined

  constructor({ lastId = '', maxChars = 64 * 1024 * 1024 } = {}) {
    this.#id = lastId
    this.#maxChars = maxChars
  }

  /** The blocks that end in this piece. */
  push(bytes: Uint8Array): Block[] {
    this.#text += this.#decoder.decode(bytes, { stream: true })
    const blocks: Block[] = []
    for (let line = this.#nextLine(); line !== undefined; line = this.#nextLine()) {
      if (line === '') blocks.push(this.#finish())
      else this.#field(line)
    }
    if (this.#text.length + this.#chars > this.#maxChars)
      throw new RangeError('a frame of the stream is too large')
    return blocks
  }

  #nextLine(): string | undefined {
    const ends = /\r\n|\r|\n/g
    ends.lastIndex = this.#scanned
    const end = ends.exec(this.#text)
    // A carriage return at the very end may be half of a line end whose other half is still to come.
    if (!end || (end[0] === '\r' && end.index === this.#text.length - 1)) {
      this.#scanned = end?.index ?? this.#text.length
      return undefined
    }
    const line = this.#text.slice(0, end.index)
    this.#text = this.#text.slice(end.index + end[0].length)
    this.#scanned = 0
    return line
  }

  #field(line: string): void {
    const colon = line.indexOf(':')
    if (colon === 0) return
    const name = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'data') {
      this.#data.push(value)
      this.#chars += value.length
    } else if (name === 'event') this.#event = value
    else if (name === 'id' && !value.includes('\0')) this.#id = value
    else if (name === 'retry' && /^\d+$/.test(value)) this.#retryMs = Number(value)
  }

  #finish(): Block {
    const data = this.#data.join('\n')
    const block = {
      id: this.#id,
      event: this.#event === '' ? 'message' : this.#event,
      data: data === '' ? undefined : data,
      retryMs: this.#retryMs,
    }
    this.#data = []
    this.#event = ''
    this.#chars = 0
    this.#retryMs = undefined
    return block
  }
}
