import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { AppError } from '../contract/errors.ts'

/** Reads a file that was named on the command line; `-` is standard input. */
export async function readNamedFile(file: string, signal: AbortSignal): Promise<string> {
  // By its path, standard input could not be opened when it is a socket, as it is under another program.
  if (file === '-') return text(process.stdin)
  try {
    return await readFile(file, { encoding: 'utf8', signal })
  } catch (error) {
    throw fileProblem(error, file)
  }
}

/** Turns what the file system says about a named file into a refusal; anything else stays a bug. */
export function fileProblem(error: unknown, file: string): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR') return new AppError('not_found', `there is no ${file}`)
  if (code === 'EISDIR') return new AppError('invalid', `${file} is a folder; name a file`)
  if (code === 'EACCES' || code === 'EPERM')
    return new AppError('denied', `${file} may not be opened; check its owner and mode`)
  if (code === 'EEXIST')
    return new AppError('conflict', `${file} exists; name another, nothing is written over it`)
  return error
}
