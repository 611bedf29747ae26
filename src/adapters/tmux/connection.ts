import { setImmediate as turn } from 'node:timers/promises'
import { AppError } from '../../contract/errors.ts'
import { linked } from '../../contract/linked.ts'
import type { Clock } from '../../ports/clock.ts'
import { type Link, outputs } from './connect.ts'
import { isNotSent, isUnknownOutcome } from './control-client.ts'

/** A connection that is made again whenever it breaks. */
export type Connection = {
  /** Runs commands in one turn of the server, and waits for the connection when it is being made again. */
  run(commands: Commands, signal: AbortSignal): Promise<readonly (readonly string[])[]>
  readonly link: Link
  release(): Promise<void>
}

export type Commands = {
  readonly commands: (link: Link) => readonly string[]
  /** The run of the server that they are for; without it, whichever there is. */
  readonly server?: string
  /** Twice does the same as once: they are sent again when the connection breaks before the answer. */
  readonly isRepeatable?: true
}

export type ConnectionOptions = {
  readonly clock: Clock
  readonly connect: () => Promise<Link>
  /** Catches up after every connect, before anyone else may use the connection. */
  readonly settle: (link: Link) => Promise<void>
  readonly tell: (kind: 'lost' | 'restored') => void
  readonly onBug: (error: unknown, where: string) => void
}

const maxAttempts = 3
const waitMs = 10_000
const backoffMs = [0, 50, 100, 200, 500, 1000, 2000, 5000]

export async function keepConnection(options: ConnectionOptions): Promise<Connection> {
  const { clock, tell } = options
  const stop = new AbortController()

  const open = async (): Promise<Link> => {
    const link = await options.connect()
    try {
      await options.settle(link)
      return link
    } catch (error) {
      await link.client.close()
      throw error
    }
  }
  let link = await firstOf(open, clock)
  let next: PromiseWithResolvers<Link> | undefined

  const again = async (): Promise<Link> => {
    for (let attempt = 0; ; attempt++) {
      await clock.sleep(backoffMs[Math.min(attempt, backoffMs.length - 1)] as number, stop.signal)
      try {
        return await open()
      } catch (error) {
        // The server may be down for long, and tmux itself gone during an upgrade. A bug must not end this either:
        // every terminal would be out of reach until the daemon is started again.
        if (!(error instanceof AppError)) options.onBug(error, 'connecting to tmux again')
      }
    }
  }
  const keep = async (): Promise<void> => {
    for (;;) {
      await link.client.closed
      if (stop.signal.aborted) return
      next = Promise.withResolvers()
      next.promise.catch(() => {})
      tell('lost')
      link = await again()
      // Whoever lets go waits for this, and closes what was opened meanwhile.
      if (stop.signal.aborted) return next.reject(released())
      const { resolve } = next
      next = undefined
      tell('restored')
      resolve(link)
    }
  }
  const kept = keep().catch((error: unknown) => {
    next?.reject(released())
    if (!stop.signal.aborted) throw error
  })

  const current = async (wanted: Commands, signal: AbortSignal): Promise<Link> => {
    if (stop.signal.aborted) throw released()
    const used = next === undefined ? link : await inTime(next.promise, clock, signal)
    if (wanted.server !== undefined && wanted.server !== used.server)
      throw new AppError('not_found', 'that terminal ended with its tmux server; start the session again')
    return used
  }

  return {
    get link() {
      return link
    },
    async run(wanted, signal) {
      for (let attempt = 1; ; attempt++) {
        const used = await current(wanted, signal)
        try {
          return outputs(await used.client.run(wanted.commands(used), signal))
        } catch (error) {
          const mayRepeat = isNotSent(error) || (wanted.isRepeatable === true && isUnknownOutcome(error))
          if (!mayRepeat || attempt === maxAttempts) throw error
        }
        // Only then is the next connection waited for.
        await used.client.closed
        await turn()
      }
    },
    async release() {
      stop.abort()
      await link.client.close()
      await kept
      await link.client.close()
    },
  }
}

/** A server that is just ending lets nobody in, and its successor does a moment later. */
async function firstOf(open: () => Promise<Link>, clock: Clock): Promise<Link> {
  for (const ms of [50, 200]) {
    try {
      return await open()
    } catch (error) {
      if (!isUnknownOutcome(error)) throw error
      await clock.sleep(ms, new AbortController().signal)
    }
  }
  return open()
}

const released = (): AppError =>
  new AppError('unavailable', 'the connection to tmux was let go; start the daemon')

async function inTime(link: Promise<Link>, clock: Clock, signal: AbortSignal): Promise<Link> {
  using done = linked(signal)
  const late = clock.sleep(waitMs, done.signal).then(() => {
    throw new AppError('unavailable', 'the tmux server cannot be reached; try again, or see: sm doctor')
  })
  try {
    return await Promise.race([link, late])
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    late.catch(() => {})
  }
}
