import { createParser, type EventSourceParser } from 'eventsource-parser'

/** What the server said at one point of an event stream. Without data it may still move the cursor or the wait. */
export type Block = {
  readonly id: string
  readonly event: string
  readonly data: string | undefined
  readonly retryMs: number | undefined
}

/** Reads an event stream from pieces cut anywhere; a block that was not finished is never given out. */
export class SseParser {
  readonly #decoder = new TextDecoder()
  readonly #parser: EventSourceParser
  #blocks: Block[] = []
  #id: string

  constructor({ lastId = '', maxChars = 64 * 1024 * 1024 } = {}) {
    this.#id = lastId
    this.#parser = createParser({
      maxBufferSize: maxChars,
      // A heartbeat is a comment. It carries nothing, but proves that the connection works.
      onComment: () => this.#add({}),
      onRetry: (retryMs) => this.#add({ retryMs }),
      onId: (id) => {
        this.#id = id
        this.#add({})
      },
      onEvent: ({ id, event, data }) => {
        // Its id was announced just before, as a block without data.
        if (id !== undefined) this.#blocks.pop()
        this.#add({ event, data: data === '' ? undefined : data })
      },
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded') throw new RangeError('a frame of the stream is too large')
      },
    })
  }

  /** The blocks that end in this piece. */
  push(bytes: Uint8Array): Block[] {
    this.#blocks = []
    this.#parser.feed(this.#decoder.decode(bytes, { stream: true }))
    return this.#blocks
  }

  #add({
    event,
    data,
    retryMs,
  }: {
    event?: string | undefined
    data?: string | undefined
    retryMs?: number
  }): void {
    this.#blocks.push({ id: this.#id, event: event ?? 'message', data, retryMs })
  }
}
