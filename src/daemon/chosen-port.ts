import { readFileSync } from 'node:fs'
import { replaceFile } from '../adapters/system/durable-files.ts'

/** The port of the last run, so that what was told of it (hooks, bookmarks) still finds us; 0 when there was none. */
export function lastPort(path: string): number {
  try {
    const port = Number(readFileSync(path, 'utf8'))
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : 0
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
}

export const keepPort = (path: string, port: number): Promise<void> => replaceFile(path, `${port}\n`)
