import { type TokenDelta, tokenFrame } from '../contract/formats/sse.ts'

/** Streamed text on its way to whoever watches now; nothing here outlives the moment. */
export type LiveHub = {
  publish(delta: TokenDelta): void
  subscribe(wants: (delta: TokenDelta) => boolean): TokenQueue
}

type Published = { readonly delta: TokenDelta; frame?: string }

/** Passes tokens to every subscriber that wants them; each holds at most so many, and so much text. */
export function liveHub({ maxTokens = 256, maxChars = 64 * 1024 } = {}): LiveHub {
  const queues = new Set<TokenQueue>()
  return {
    publish(delta) {
      const published: Published = { delta }
      for (const queue of queues) queue.push(published)
    },
    subscribe(wants) {
      const queue = new TokenQueue({ maxTokens, maxChars, wants, onClose: () => queues.delete(queue) })
      queues.add(queue)
      return queue
    },
  }
}

type QueueOptions = {
  readonly maxTokens: number
  readonly maxChars: number
  readonly wants: (delta: TokenDelta) => boolean
  readonly onClose: () => void
}

/** The tokens one client has not taken yet. */
export class TokenQueue {
  readonly #options: QueueOptions
  #waiting: Published[] = []
  #chars = 0
  #dropped = 0
  #listener: (() => void) | undefined

  constructor(options: QueueOptions) {
    this.#options = options
  }

  push(published: Published): void {
    if (!this.#options.wants(published.delta)) return
    this.#waiting.push(published)
    this.#chars += published.delta.token.length
    while (this.#waiting.length > 1 && this.#isOver()) {
      this.#chars -= this.#waiting.shift()?.delta.token.length ?? 0
      this.#dropped++
    }
    this.#listener?.()
  }

  #isOver(): boolean {
    return this.#waiting.length > this.#options.maxTokens || this.#chars > this.#options.maxChars
  }

  /** Takes what waits; the first frame after a loss says how many tokens are missing. */
  take(): string[] {
    const waiting = this.#waiting
    const dropped = this.#dropped
    this.#waiting = []
    this.#chars = 0
    this.#dropped = 0
    return waiting.map((published, i) =>
      i === 0 && dropped > 0 ? frame(published.delta, dropped) : shared(published),
    )
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  /** Calls whoever takes, at each token. */
  listen(listener: () => void): void {
    this.#listener = listener
  }

  close(): void {
    this.#options.onClose()
    this.#waiting = []
  }
}

function shared(published: Published): string {
  published.frame ??= frame(published.delta, 0)
  return published.frame
}

// Without an id: a browser's cursor stays at the last event of the journal.
function frame(delta: TokenDelta, dropped: number): string {
  const { type, data } = tokenFrame(delta)
  return `event: ${type}\ndata: ${JSON.stringify(dropped > 0 ? { ...data, dropped } : data)}\n\n`
}
