import type { Client } from '../../client/client.ts'
import type { AppError } from '../../contract/errors.ts'
import { type Heard, heardIn } from './heard.ts'

/** How a session is listened to. */
export type Listening = {
  readonly sessionId: string
  readonly signal: AbortSignal
  readonly onRetry: (error: AppError, waitMs: number) => void
  /** Hears of each connection after a lost one. */
  readonly onReturn?: () => void
  /** Lost connections in a row after which it gives up. */
  readonly maxFailures?: number
}

// A daemon that is replaced or restarted comes back; who waits for an answer waits through that.
const usualFailures = 60
const maxBackoffMs = 2000

/** Begins to listen to a session; resolves when nothing that is said from now on can be missed. */
export async function openEar(client: Client, listening: Listening): Promise<AsyncGenerator<Heard>> {
  const { sessionId, signal, onRetry, onReturn, maxFailures = usualFailures } = listening
  const opened = Promise.withResolvers<void>()
  let isOpen = false
  const onOpen = () => {
    if (isOpen) onReturn?.()
    isOpen = true
    opened.resolve()
  }
  const frames = client.streamRuntime(
    { session_id: sessionId },
    { signal, onRetry, onOpen, maxFailures, maxBackoffMs },
  )
  const first = frames.next()
  await Promise.race([opened.promise, first])
  return heardFrames(frames, first)
}

async function* heardFrames(
  frames: ReturnType<Client['streamRuntime']>,
  first: ReturnType<ReturnType<Client['streamRuntime']>['next']>,
): AsyncGenerator<Heard> {
  try {
    for (let read = await first; !read.done; read = await frames.next()) {
      const heard = heardIn(read.value)
      if (heard) yield heard
    }
  } finally {
    await frames.return()
  }
}
