import { type OutputLine, outputFrame, type TokenDelta, tokenFrame } from '../contract/formats/sse.ts'

/** What is told to whoever watches now, and to nobody later. */
export type LiveDelta = TokenDelta | OutputLine

/** Streamed text on its way to whoever watches now; nothing here outlives the moment. */
export type LiveHub = {
  publish(delta: LiveDelta): void
  subscribe(wants: (delta: LiveDelta) => boolean): TokenQueue
}

/** `seq` is the last event that could be read when it was said. */
type Published = { readonly delta: LiveDelta; readonly seq: number; frame?: string }
type PublishedToken = Published & { readonly delta: TokenDelta }

/** Runs whose lines wait for one client. */
const maxLines = 64

/** Passes tokens to every subscriber that wants them; each holds at most so many, and so much text. */
export function liveHub({
  maxTokens = 256,
  maxChars = 64 * 1024,
  watermark = (): number => 0,
} = {}): LiveHub {
  const queues = new Set<TokenQueue>()
  return {
    publish(delta) {
      const published: Published = { delta, seq: watermark() }
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
  readonly wants: (delta: LiveDelta) => boolean
  readonly onClose: () => void
}

/** What one client has not taken yet. */
export class TokenQueue {
  readonly #options: QueueOptions
  #waiting: PublishedToken[] = []
  /** Of the lines of a run only the last is worth anything; they never take the place of a token. */
  readonly #lines = new Map<string, Published>()
  #chars = 0
  #dropped = 0
  #listener: (() => void) | undefined

  constructor(options: QueueOptions) {
    this.#options = options
  }

  push(published: Published): void {
    if (!this.#options.wants(published.delta)) return
    if (isToken(published)) this.#pushToken(published)
    else this.#pushLine(published)
    this.#listener?.()
  }

  #pushToken(published: PublishedToken): void {
    this.#waiting.push(published)
    this.#chars += published.delta.token.length
    while (this.#waiting.length > 1 && this.#isOver()) {
      this.#chars -= this.#waiting.shift()?.delta.token.length ?? 0
      this.#dropped++
    }
  }

  #pushLine(published: Published): void {
    const { runId } = published.delta
    this.#lines.delete(runId)
    this.#lines.set(runId, published)
    const [oldest] = this.#lines.keys()
    if (oldest !== undefined && this.#lines.size > maxLines) this.#lines.delete(oldest)
  }

  #isOver(): boolean {
    return this.#waiting.length > this.#options.maxTokens || this.#chars > this.#options.maxChars
  }

  /**
   * Takes the lines, and the tokens that were said before an event after this one was there; the first token after a loss
   * says how many are missing.
   */
  take(after: number): string[] {
    if (this.isEmpty) return []
    const lines = [...this.#lines.values()]
    this.#lines.clear()
    const early = this.#waiting.findIndex(({ seq }) => seq > after)
    const taken = this.#waiting.splice(0, early < 0 ? this.#waiting.length : early)
    for (const { delta } of taken) this.#chars -= delta.token.length
    const dropped = this.#dropped
    if (taken.length > 0) this.#dropped = 0
    const tokens = taken.map((published, i) =>
      i === 0 && dropped > 0 ? frame(published.delta, dropped) : shared(published),
    )
    return [...lines.map(shared), ...tokens]
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#lines.size === 0
  }

  /** Calls whoever takes, at each token. */
  listen(listener: () => void): void {
    this.#listener = listener
  }

  close(): void {
    this.#options.onClose()
    this.#waiting = []
    this.#lines.clear()
  }
}

const isToken = (published: Published): published is PublishedToken => 'token' in published.delta

function shared(published: Published): string {
  published.frame ??= frame(published.delta, 0)
  return published.frame
}

// Without an id: a browser's cursor stays at the last event of the journal.
function frame(delta: LiveDelta, dropped: number): string {
  const { type, data } = 'line' in delta ? outputFrame(delta) : tokenFrame(delta)
  return `event: ${type}\ndata: ${JSON.stringify(dropped > 0 ? { ...data, dropped } : data)}\n\n`
}
