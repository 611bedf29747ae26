import { randomUUID } from 'node:crypto'
import { promises as fs } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import type { OpenRequest, PaneRef } from '../../ports/terminal.ts'
import { privateFolder } from '../system/durable-files.ts'
import type { Connection } from './connection.ts'
import { isUnknownOutcome } from './control-client.ts'
import { markOption, ownerOption, type PaneRow } from './pane-list.ts'
import { literal, quote } from './paste-text.ts'
import { anchorName, idleArgv } from './tmux-server.ts'

export type Opened = PaneRef & { readonly pid: number }

type OpenPaneOptions = {
  readonly connection: Connection
  readonly list: () => Promise<readonly PaneRow[]>
  readonly mark: string
  readonly signal: AbortSignal
}

/** What a window is renamed to when its program ends; the new name is what tells the control client. */
export const endedSuffix = '-ended'

/** Starts a program in a session of its own, or leaves nothing behind. */
export async function openPane(request: OpenRequest, options: OpenPaneOptions): Promise<Opened> {
  await check(request)
  const script = join(await privateFolder(request.folder), `launch-${randomUUID()}.sh`)
  await fs.writeFile(script, launchScript(request), { mode: 0o700, flag: 'wx' })
  try {
    const opened = await start(request, script, options)
    if (options.signal.aborted) await kill(opened, options.connection)
    options.signal.throwIfAborted()
    return opened
  } catch (error) {
    await fs.rm(script, { force: true })
    throw error
  }
}

async function kill({ server, session }: PaneRef, connection: Connection): Promise<void> {
  const commands = () => [`kill-session -t '${session}'`]
  await connection.run({ commands, server, isRepeatable: true }, new AbortController().signal)
}

async function start(request: OpenRequest, script: string, options: OpenPaneOptions): Promise<Opened> {
  const { connection, mark } = options
  const commands = openCommands(request, script, mark)
  try {
    // Not under the caller's signal: a session that came into being must be known here to be closed again.
    const answers = await connection.run({ commands: () => commands }, new AbortController().signal)
    const [session = '', pane = '', pid, server = ''] = (answers.at(-1)?.[0] ?? '').split(' ')
    return { server, session, pane, pid: Number(pid) }
  } catch (error) {
    const made = await leftover(options, error)
    if (made === undefined) {
      if (!isUnknownOutcome(error) && (await isNameTaken(request.name, connection)))
        throw new AppError(
          'conflict',
          `there is already a tmux session "${request.name}"; close it or choose another name`,
        )
      throw error
    }
    if (isUnknownOutcome(error)) return made
    await kill(made, connection)
    throw error
  }
}

/** Nothing of ours was made: then what has the name is somebody else's. */
async function isNameTaken(name: string, connection: Connection): Promise<boolean> {
  const commands = () => [`has-session -t '=${name}'`]
  try {
    await connection.run({ commands, isRepeatable: true }, new AbortController().signal)
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return false
    throw error
  }
}

/** What exists of a failed open: all of it when only the answer was lost. */
async function leftover(options: OpenPaneOptions, failure: unknown): Promise<PaneRow | undefined> {
  try {
    return (await options.list()).find(({ mark }) => mark === options.mark)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw failure
  }
}

/**
 * One line, so that tmux runs it in one turn: no end of the program can come between its start and the settings that
 * report it. The program replaces an idle one for the user's hooks on new sessions, which may take turns of their own.
 */
function openCommands(request: OpenRequest, script: string, mark: string): readonly string[] {
  const { name, width, height } = request
  const folder = quote(literal(request.workingDir))
  const here = `-t '=${name}:'`
  const tellEnd = `run-shell -b -C "rename-window -t '#{window_id}' '${name}${endedSuffix}'"`
  return [
    `new-session -d -s ${name} -n ${name} -x ${width} -y ${height} -c ${folder} ${idleArgv.join(' ')}`,
    `set-option -p ${here} ${markOption} ${mark}`,
    `set-option -p ${here} ${ownerOption} ${request.owner}`,
    `set-option -q ${here} destroy-unattached off`,
    `set-option -p ${here} remain-on-exit on`,
    `set-hook -p ${here} pane-died ${quote(tellEnd)}`,
    `respawn-pane -k ${here} -c ${folder} /bin/sh ${quote(script)}`,
    `display-message -p ${here} '#{session_id} #{pane_id} #{pane_pid} #{pid}-#{start_time}'`,
  ]
}

async function check({ name, owner, workingDir, width, height }: OpenRequest): Promise<void> {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(owner))
    throw new AppError('invalid', `"${owner}" cannot own a terminal; use up to 64 letters, digits, - and _`)
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name) || name === anchorName)
    throw new AppError('invalid', `"${name}" cannot name a terminal; use up to 64 letters, digits, - and _`)
  for (const size of [width, height])
    if (!Number.isInteger(size) || size < 1 || size > 10_000)
      throw new AppError('invalid', `${size} is not a valid terminal size; use 1 to 10000`)
  const stat = isAbsolute(workingDir) ? await fs.stat(workingDir).catch(() => undefined) : undefined
  if (stat?.isDirectory() !== true)
    throw new AppError(
      'invalid',
      `there is no folder ${workingDir} to work in; create it or name another full path`,
    )
}

/**
 * The launch as a script: no limit of tmux or of a terminal's line touches it, and no shell of the user's reads it.
 * The program gets the environment of the request and TERM, nothing of tmux's or of ours.
 */
export function launchScript({
  argv,
  env,
  workingDir,
  group,
}: Pick<OpenRequest, 'argv' | 'env' | 'workingDir' | 'group'>): string {
  const assignments = Object.entries(env).map(([name, value]) => {
    if (!/^[^=\0-][^=\0]*$/.test(name))
      throw new AppError('invalid', `"${name}" cannot name an environment variable; rename it`)
    return `${name}=${value}`
  })
  const [program] = argv
  if (program === undefined || program === '' || program.includes('='))
    throw new AppError(
      'invalid',
      'the program to run is empty or its path has a "=" in it; name another path',
    )
  const words = [...assignments, ...argv]
  checkSize(words)
  const term = 'TERM' in env ? '' : ' TERM="$TERM"'
  return [
    '#!/bin/sh',
    // It holds the environment, secrets among it: it is gone from the disk before the program starts.
    'rm -f -- "$0"',
    ...(group === undefined ? [] : [`{ echo $$ > ${shellQuote(group)}; } 2>/dev/null`]),
    `cd -- ${shellQuote(workingDir)} || exit 126`,
    `exec /usr/bin/env -i${term} ${words.map(shellQuote).join(' ')}`,
    '',
  ].join('\n')
}

const shellQuote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** Linux takes 128 KiB in one argument, its ending NUL included. */
const maxWordBytes = 128 * 1024 - 1
/** What every system takes in all of them together. */
const maxTotalBytes = 1024 * 1024

function checkSize(words: readonly string[]): void {
  let total = 0
  for (const word of words) {
    const bytes = Buffer.byteLength(word)
    total += bytes + 9
    if (word.includes('\0')) throw new AppError('invalid', 'an argument contains a NUL character; remove it')
    if (bytes > maxWordBytes)
      throw tooLong(`one argument has ${bytes} bytes, and the limit is ${maxWordBytes}`)
  }
  if (total > maxTotalBytes)
    throw tooLong(`all arguments have ${total} bytes, and the limit is ${maxTotalBytes}`)
}

const tooLong = (what: string): AppError =>
  new AppError('invalid', `${what}; put the long text into a file and name the file`)
