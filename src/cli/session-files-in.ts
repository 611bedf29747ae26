import { glob, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../contract/errors.ts'
import { fileProblem } from './read-file.ts'

/** The files that were named, and every JSON file below the folders that were. */
export async function sessionFilesIn(paths: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const path of paths) {
    const isFolder = await stat(path).then(
      (entry) => entry.isDirectory(),
      (error: unknown) => {
        throw fileProblem(error, path)
      },
    )
    if (!isFolder) found.push(path)
    else
      found.push(
        ...(await Array.fromAsync(glob('**/*.json', { cwd: path }))).map((file) => join(path, file)).sort(),
      )
  }
  if (found.length === 0) throw new AppError('not_found', `there is no JSON file in ${paths.join(', ')}`)
  return found
}
