import { join } from 'node:path'
import { privateFolder, replaceFile } from '../system/durable-files.ts'
import { tmuxVersion } from './installed.ts'
import { ownerTerm } from './orphan-clients.ts'
import { ownConfig } from './own-config.ts'

/** Which tmux server, and how it is reached and started. */
export type TmuxServer = {
  readonly command: string
  readonly version: number
  readonly socket: string
  /** Ours has our settings; the user's own is used as it is found. */
  readonly isOwn: boolean
  readonly settings: readonly string[]
  /** The arguments of a control client that starts the server and the anchor when they are not there. */
  readonly clientArgs: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** The session that keeps the server alive and that the control client is attached to. */
export const anchorName = 'muster-anchor'

/** A program that does nothing until it is ended, on every system. */
export const idleArgv = ['tail', '-f', '/dev/null'] as const

export async function tmuxServer(options: {
  readonly socket: string
  readonly folder: string
  readonly command: string
}): Promise<TmuxServer> {
  const { socket, command } = options
  const isOwn = socket !== 'default'
  const version = await tmuxVersion(command)
  const settings = isOwn ? ownConfig(process.env) : []
  const config = join(await privateFolder(options.folder), 'tmux.conf')
  if (isOwn) await replaceFile(config, `${settings.join('\n')}\n`)
  const anchor = [
    'new-session',
    '-A',
    '-E',
    '-f',
    'no-output,ignore-size',
    '-s',
    anchorName,
    '-c',
    '/',
    ...idleArgv,
  ]
  return {
    command,
    version,
    socket,
    isOwn,
    settings,
    // -u: without it every character beyond ASCII comes back as an underscore.
    clientArgs: ['-u', '-L', socket, ...(isOwn ? ['-f', config] : []), '-C', ...anchor],
    env: { ...(isOwn ? pick(process.env, kept) : without(process.env)), TERM: ownerTerm(process.pid) },
  }
}

/** What our own server needs itself; programs get theirs from their launch. */
const kept = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TERMINFO',
  'TERMINFO_DIRS',
  'TMPDIR',
  'TMUX_TMPDIR',
]

type Env = Readonly<Record<string, string | undefined>>

function pick(env: Env, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))
}

/**
 * The user's own server, when it is we who start it, gets the user's variables. Ours stay out of it: a mark of a
 * session in the server's environment would make the server itself part of that session.
 */
function without(env: Env): Record<string, string> {
  return pick(
    env,
    Object.keys(env).filter((name) => !/^(?:TMUX$|TMUX_PANE$|MUSTER_|SM_)/.test(name)),
  )
}
