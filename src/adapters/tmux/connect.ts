import { AppError } from '../../contract/errors.ts'
import type { Clock } from '../../ports/clock.ts'
import { type ControlClient, startControlClient } from './control-client.ts'
import type { Block } from './control-parser.ts'
import { endOrphans, listOwners } from './orphan-clients.ts'
import { deadSubscription } from './pane-list.ts'
import type { TmuxServer } from './tmux-server.ts'

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
    return new AppError('not_found', 'that terminal is gone; see which there are with: sm all')
  return new AppError('failed', `tmux refused: ${text}`)
}
