import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { AppError } from '../../contract/errors.ts'

/** The version as a number to compare: 3.3a is 303. A name without figures is a build newer than any release. */
export async function tmuxVersion(command: string): Promise<number> {
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

export function versionIn(text: string): number {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(text) ?? []
  return major === undefined ? Number.POSITIVE_INFINITY : Number(major) * 100 + Number(minor)
}

export const notInstalled = (command: string): AppError =>
  new AppError('unavailable', `${command} is not installed; ${howToInstall}`)

/** The first with flags of control clients, pane options with hooks, and `run-shell -C`. */
const oldest = 302

const howToInstall = 'install tmux with: apt install tmux, dnf install tmux, or brew install tmux'
