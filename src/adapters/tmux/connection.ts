import { setImmediate as turn } from 'node:timers/promises'
import { AppError } from '../../contract/errors.ts'
import { linked } from '../../contract/linked.ts'
import type { Clock } from '../../ports/clock.ts'
import {
  type Block,
  type ControlClient,
  isNotSent,
  isUnknownOutcome,
  startControlClient,
} from './control-client.ts'
import { deadSubscription } from './pane-list.ts'
import { endOrphans, listOwners, type TmuxServer } from './tmux-server.ts'

/** A connection that is made again whenever it breaks. */
export type Connection = {
  /** Runs commands in one turn of the server, and waits for the connection when it is being made again. */
  run(commands: Commands, signal: AbortSignal): Promise<readonly (readonly string[])[]>
  readonly link: Link
  /** Lets go for good, with one last word. */
  release(last: readonly string[]): Promise<void>
}

export type Commands = {
  readonly commands: (link: Link) => readonly string[]
  /** The run of the server that they are for; without it, whichever there is. */
  readonly server?: string
  /** Twice does the same as once: they are sent again when the connection breaks before the answer. */
  readonly isRepeatable?: true
}

type ConnectionOptions = {
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
    async release(last) {
      stop.abort()
      // Whatever comes of it, nobody connects again.
      await link.client.run(last, AbortSignal.timeout(waitMs)).catch(() => {})
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
  new AppError('unavailable', 'the connection to tmux was closed; start the daemon')

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

/** A control client and the run of the server that it is connected to. */
export type Link = {
  readonly client: ControlClient
  /** Names this run of the server: its ids begin at 0 again with the next. */
  readonly server: string
  readonly socketPath: string
  /** From 3.7 on pasted text is rewritten unless this flag is given, which older ones refuse. */
  readonly pasteFlags: '-p -r -d' | '-p -r -d -S'
}

/** Starts the server and its anchor when they are not there, and connects. */
export async function connect(
  server: TmuxServer,
  clock: Clock,
  notice: (line: string) => void,
): Promise<Link> {
  const attached = Promise.withResolvers<string>()
  const client = startControlClient({
    ...server,
    args: server.clientArgs,
    clock,
    notice: (line) => {
      const [, session] = /^%session-changed (\$\d+) /.exec(line) ?? []
      if (session !== undefined) attached.resolve(session)
      notice(line)
    },
  })
  const never = new AbortController().signal
  try {
    const [told = [], usage = []] = outputs(await client.run([identity, pasteUsage], never))
    // The server may read commands before it has attached the client that they come from.
    const session = await Promise.race([attached.promise, client.closed.then(fail)])
    const [run = '', ...path] = (told[0] ?? '').split(' ')
    // Each for itself: one that this tmux refuses must not keep the others from being set.
    const anchor = ['detach-on-destroy on', 'destroy-unattached off'].map(
      (setting) => `set-option -q -t '${session}' ${setting}`,
    )
    await Promise.all(
      [...server.settings, ...anchor, deadSubscription()].map((line) => client.run([line], never)),
    )
    endOrphans(outputs(await client.run([listOwners(session)], never))[0] ?? [])
    const isRewriting = /\[-\w*S\w*\]/.test(usage[0] ?? '')
    return {
      client,
      server: run,
      socketPath: path.join(' '),
      pasteFlags: isRewriting ? '-p -r -d -S' : '-p -r -d',
    }
  } catch (error) {
    await client.close()
    throw error
  }
}

const fail = (error: AppError): never => {
  throw error
}

const identity = `display-message -p '#{pid}-#{start_time} #{socket_path}'`
const pasteUsage = `list-commands -F '#{command_list_usage}' paste-buffer`

/** The lines of each answer; the first that is an error is thrown. */
export function outputs(blocks: readonly Block[]): readonly (readonly string[])[] {
  const refusal = blocks.find(({ isError }) => isError)
  if (refusal !== undefined) throw refused(refusal.lines.join(' '))
  return blocks.map(({ lines }) => lines)
}

function refused(text: string): AppError {
  if (/^can't find (?:session|window|pane)/.test(text))
    return new AppError('not_found', 'that terminal is gone; list the others with: sm all')
  return new AppError('failed', `tmux refused: ${text}`)
}
