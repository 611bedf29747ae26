import { spawn } from 'node:child_process'
import { AppError } from '../contract/errors.ts'

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
