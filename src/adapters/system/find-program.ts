import { constants, promises as fs } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

/** The file that a command means on a PATH, as a shell would find it; a command with a slash is that file. */
export async function findProgram(command: string, path = ''): Promise<string | undefined> {
  const places = command.includes('/')
    ? [command]
    : path
        .split(delimiter)
        .filter(isAbsolute)
        .map((folder) => join(folder, command))
  for (const place of places) if (await isProgram(place)) return place
  return undefined
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await fs.access(file, constants.X_OK)
    return (await fs.stat(file)).isFile()
  } catch {
    return false
  }
}
