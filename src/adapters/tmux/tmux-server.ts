import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { AppError } from '../../contract/errors.ts'
import { privateFolder, replaceFile } from '../system/durable-files.ts'

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

/**
 * The settings of our own server, one tmux command each. A server that outlived an upgrade gets them again, so
 * they must bear repeating; `-q` skips what an older tmux does not know.
 */
function ownConfig(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return [
    'set-option -sq exit-empty off',
    'set-option -sq escape-time 0',
    'set-option -sq focus-events on',
    'set-option -sq extended-keys on',
    `set-option -sq default-terminal ${knows('tmux-256color', env) ? 'tmux-256color' : 'screen-256color'}`,
    'set-option -gq prefix None',
    'set-option -gq prefix2 None',
    'set-option -gq status off',
    'set-option -gq mouse on',
    'set-option -gq history-limit 50000',
    'set-option -gq set-titles off',
    'set-option -gq detach-on-destroy on',
    'set-option -gq destroy-unattached off',
    'set-option -gwq remain-on-exit on',
    'set-option -gwq window-size latest',
    'set-option -gwq allow-rename off',
    'bind-key -T root C-q detach-client',
  ]
}

/** Whether the terminfo database has an entry; macOS names the folders by the letter's code. */
function knows(terminal: string, env: Readonly<Record<string, string | undefined>>): boolean {
  const folders = [
    env.TERMINFO,
    env.HOME === undefined ? undefined : join(env.HOME, '.terminfo'),
    ...(env.TERMINFO_DIRS?.split(':') ?? []),
    '/etc/terminfo',
    '/lib/terminfo',
    '/usr/share/terminfo',
    '/usr/local/share/terminfo',
    '/opt/homebrew/share/terminfo',
  ].filter((folder): folder is string => folder !== undefined && folder !== '')
  const letter = terminal.slice(0, 1)
  const code = letter.charCodeAt(0).toString(16)
  return folders.some((folder) => [letter, code].some((name) => existsSync(join(folder, name, terminal))))
}

/** The version as a number to compare: 3.3a is 303. A name without figures is a build newer than any release. */
async function tmuxVersion(command: string): Promise<number> {
  const { stdout } = await promisify(execFile)(command, ['-V']).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'EACCES') throw notInstalled(command)
    throw new AppError('unavailable', `${command} -V fails: ${error.message}`, { cause: error })
  })
  const version = versionIn(stdout)
  if (version < oldest)
    throw new AppError(
      'unavailable',
      `tmux 3.2 or newer is needed, and this is ${stdout.trim()}; ${howToInstall}`,
    )
  return version
}

function versionIn(text: string): number {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(text) ?? []
  return major === undefined ? Number.POSITIVE_INFINITY : Number(major) * 100 + Number(minor)
}

export const notInstalled = (command: string): AppError =>
  new AppError('unavailable', `${command} is not installed; ${howToInstall}`)

/** The first with flags of control clients, pane options with hooks, and `run-shell -C`. */
const oldest = 302

const howToInstall = 'install tmux with: apt install tmux, dnf install tmux, or brew install tmux'

/** Control clients have no terminal: what they give as its kind tells whose they are. */
const ownerTerm = (pid: number): string => `muster-${pid}`

/** Lists the clients of a session for `endOrphans`. */
export const listOwners = (session: string): string =>
  `list-clients -t '${session}' -F '#{client_pid} #{client_termname}'`

/**
 * A control client whose daemon was killed while tmux had something to tell it stays for ever, and what it is told
 * piles up in the server.
 */
export function endOrphans(lines: readonly string[]): void {
  for (const line of lines) {
    const [, client, daemon] = /^(\d+) muster-(\d+)$/.exec(line) ?? []
    if (daemon !== undefined && !signalled(Number(daemon), 0)) signalled(Number(client), 'SIGKILL')
  }
}

/** Whether there was such a process. */
function signalled(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ESRCH' && code !== 'EPERM') throw error
    return code === 'EPERM'
  }
}
