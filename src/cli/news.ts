import type { Client } from '../client/client.ts'
import { AppError } from '../contract/errors.ts'
import type { EventType } from '../contract/event.ts'
import { linked } from '../contract/linked.ts'
import type { RouteInput } from '../contract/routes.ts'
import type { Io } from './io.ts'

/** What the stream is asked for: events after a seq, perhaps of some types or of one session. */
type NewsFilter = Omit<RouteInput<'streamEvents'>, 'after'> & { readonly after: number }

// Several events of one batch are one piece of news; what is read from the index may be a moment behind it.
const gatherMs = 50
const echoMs = 400
const restMs = 5000

/** Says whenever it is worth to look again: at once after an event, shortly after it once more, and rarely without any. */
export async function* news(client: Client, filter: NewsFilter, io: Io): AsyncGenerator<void, void, void> {
  using stop = linked(io.signal)
  const bell = new Bell()
  const reading = read(client, filter, { io, stop, bell })
  let restingMs = restMs
  try {
    while (true) {
      const isRung = await bell.wait(restingMs, io)
      if (bell.failure !== undefined) throw bell.failure
      if (isRung) await io.sleep(gatherMs)
      bell.reset()
      yield
      if (bell.isOver && !bell.isRung) return
      restingMs = isRung ? echoMs : restMs
    }
  } finally {
    stop.abort()
    await reading
  }
}

type Reading = { readonly io: Io; readonly stop: AbortController; readonly bell: Bell }

async function read(
  client: Client,
  { after, ...filter }: NewsFilter,
  { io, stop, bell }: Reading,
): Promise<void> {
  const { signal } = stop
  const onRetry = (error: Error) => io.say(`${error.message}; trying again`)
  try {
    for await (const _ of client.streamEvents({ ...filter, after: String(after) }, { signal, onRetry }))
      bell.ring()
  } catch (error) {
    bell.failure = error
  }
  bell.isOver = true
  bell.ring()
}

/** Remembers that it was rung until somebody has listened. */
class Bell {
  failure: unknown
  isOver = false
  #rung = Promise.withResolvers<void>()
  isRung = false

  ring(): void {
    this.isRung = true
    this.#rung.resolve()
  }

  reset(): void {
    this.isRung = false
    this.#rung = Promise.withResolvers()
  }

  /** Whether it was rung within a time. */
  async wait(ms: number, io: Io): Promise<boolean> {
    if (this.isRung) return true
    using enough = linked(io.signal)
    const late = io.sleep(ms, enough.signal).catch((error: unknown) => {
      if (io.signal.aborted || !enough.signal.aborted) throw error
    })
    await Promise.race([this.#rung.promise, late])
    return this.isRung
  }
}

/** An answer, or nothing while the daemon is away: who follows something waits for it to come back. */
export async function ifReachable<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof AppError && (error.code === 'unavailable' || error.code === 'timeout'))
      return undefined
    throw error
  }
}

/** The events after which a session may stand differently. */
export const stateEvents = [
  'session.started',
  'session.launched',
  'session.completed',
  'session.failed',
  'session.reopened',
  'session.state.changed',
  'agent.completed',
  'agent.failed',
  'agent.cancelled',
  'agent.killed',
  'agent.abandoned',
  'agent.idle',
  'agent.waiting',
  'approval.requested',
  'approval.granted',
  'approval.rejected',
  'approval.expired',
] as const satisfies readonly EventType[]
