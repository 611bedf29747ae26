import { AppError } from '../contract/errors.ts'
import { wireVersions } from '../contract/version.ts'
import { type Block, SseParser } from './sse-parser.ts'
import { connectionFailure, headersOf, notMuster, refusalOf, type Transport } from './transport.ts'

/** One frame of a stream. A frame named `resync` says that something was missed. */
export type Frame = { readonly id: string; readonly event: string; readonly data: unknown }

/** How to follow a stream. */
export type FollowOptions = {
  readonly signal: AbortSignal
  /** The id of the last frame the caller has. */
  readonly lastId?: string
  /** Silence after which the connection counts as dead; the server's heartbeats are shorter. */
  readonly idleMs?: number
  /** Failures in a row after which it gives up. */
  readonly maxFailures?: number
  readonly maxBackoffMs?: number
  /** Hears of each connection that was made: from then on nothing is missed. */
  readonly onOpen?: () => void
  /** Hears of each lost connection, with the wait before the next try. */
  readonly onRetry?: (error: AppError, waitMs: number) => void
}

/** Follows a stream through every loss of connection: each frame once, in order, until the signal ends it. */
export async function* follow(
  transport: Transport,
  url: string,
  options: FollowOptions,
): AsyncGenerator<Frame, void, void> {
  const { signal, maxFailures = 10, maxBackoffMs = 10_000 } = options
  let lastId = options.lastId ?? ''
  let retryMs = 1000
  let failures = 0
  while (!signal.aborted) {
    try {
      for await (const block of connection({ transport, url, lastId }, options)) {
        lastId = block.id
        retryMs = block.retryMs ?? retryMs
        failures = 0
        if (block.data !== undefined) yield { id: block.id, event: block.event, data: JSON.parse(block.data) }
      }
    } catch (error) {
      if (signal.aborted) return
      if (!isPassing(error) || ++failures >= maxFailures) throw error
      const waitMs = Math.min(retryMs * 2 ** (failures - 1), Math.max(retryMs, maxBackoffMs))
      options.onRetry?.(error, waitMs)
      await pause(transport, waitMs, signal)
    }
  }
}

type Connection = { readonly transport: Transport; readonly url: string; readonly lastId: string }

/** The blocks of one connection; ends by throwing, because a stream has no end of its own. */
async function* connection(
  { transport, url, lastId }: Connection,
  options: FollowOptions,
): AsyncGenerator<Block> {
  const stop = new AbortController()
  const onAbort = () => stop.abort(options.signal.reason)
  options.signal.addEventListener('abort', onAbort, { once: true })
  const idleMs = options.idleMs ?? 60_000
  const sent = {
    method: 'GET',
    headers: {
      ...headersOf(transport, wireVersions.current),
      accept: 'text/event-stream',
      ...(lastId !== '' && { 'last-event-id': lastId }),
    },
    signal: stop.signal,
  }
  const within = <T>(work: Promise<T>): Promise<T> => withinIdle(work, { transport, idleMs })
  try {
    const response = await within(transport.request(url, sent))
    if (!response.ok) throw await refusalOf(response)
    const type = response.headers.get('content-type') ?? ''
    if (!type.startsWith('text/event-stream') || !response.body) throw notMuster(response.status)
    options.onOpen?.()
    const chunks = response.body[Symbol.asyncIterator]()
    const parser = new SseParser({ lastId })
    for (let read = await within(chunks.next()); !read.done; read = await within(chunks.next()))
      yield* parser.push(read.value)
    throw new AppError('unavailable', 'the daemon ended the stream')
  } catch (error) {
    throw error instanceof AppError || error instanceof RangeError ? error : connectionFailure(error, false)
  } finally {
    options.signal.removeEventListener('abort', onAbort)
    // Also when the caller stopped in the middle: the connection must not outlive its reader.
    stop.abort()
  }
}

async function withinIdle<T>(work: Promise<T>, limit: { transport: Transport; idleMs: number }): Promise<T> {
  const stop = new AbortController()
  const late = limit.transport.sleep(limit.idleMs, stop.signal).then(() => {
    throw new AppError('timeout', `nothing arrived for ${limit.idleMs} ms; the connection is considered lost`)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    stop.abort()
  }
}

async function pause({ sleep }: Transport, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, signal)
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

// Refusals about the request itself would be repeated word for word.
function isPassing(error: unknown): error is AppError {
  const passing: readonly string[] = ['unavailable', 'timeout', 'limited', 'internal', 'failed']
  return error instanceof AppError && passing.includes(error.code)
}
