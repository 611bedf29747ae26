import { readFile } from 'node:fs/promises'

/** A file of the CLI's as JSON; nothing when it is missing, unreadable or in the middle of being written. */
export async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    if (error instanceof SyntaxError || isFileError(error)) return undefined
    throw error
  }
}

/** Whether a file or folder could not be had, for whatever reason of the system's. */
export const isFileError = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && typeof (error as NodeJS.ErrnoException).code === 'string'
