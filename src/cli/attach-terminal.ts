import { spawn } from 'node:child_process'
import { basename } from 'node:path'
import { AppError } from '../contract/errors.ts'

/** How a terminal is shown: in this one, in a window of the tmux around us, or by switching what that tmux shows. */
type AttachPlan = {
  readonly way: 'here' | 'window' | 'switch'
  readonly argv: readonly string[]
}

/** Decides how to run an attach command; a tmux inside another would fight over keys, so it gets a window of its own. */
export function attachPlan(
  argv: readonly string[],
  name: string,
  env: Readonly<Record<string, string | undefined>>,
): AttachPlan {
  const around = env['TMUX']?.split(',')[0]
  if (!around) return { way: 'here', argv }
  const [program = 'tmux'] = argv
  const target = valueAfter(argv, '-t')
  if (target !== undefined && isSameServer(argv, around)) {
    return { way: 'switch', argv: [program, '-S', around, 'switch-client', '-t', target] }
  }
  // Several words after the options are run as they are, without a shell.
  const inner = ['env', '-u', 'TMUX', '-u', 'TMUX_PANE', ...argv]
  return { way: 'window', argv: ['tmux', '-S', around, 'new-window', '-n', name, ...inner] }
}

function isSameServer(argv: readonly string[], around: string): boolean {
  const path = valueAfter(argv, '-S')
  return path === undefined ? (valueAfter(argv, '-L') ?? 'default') === basename(around) : path === around
}

function valueAfter(argv: readonly string[], flag: string): string | undefined {
  const at = argv.indexOf(flag)
  return at === -1 ? undefined : argv[at + 1]
}

/** Runs a command in this terminal until it ends; its failure is ours. */
export function runHere(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const [file = '', ...args] = argv
  const child = spawn(file, args, { stdio: 'inherit', env: { ...env } })
  return new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'ENOENT'
          ? new AppError('not_found', `${file} was not found; install it, or put it on the PATH`)
          : error,
      ),
    )
    child.once('close', (code, signal) => {
      if (code === 0) resolve()
      else reject(new AppError('failed', `${argv.join(' ')} ended with ${signal ?? `exit ${code}`}`))
    })
  })
}
