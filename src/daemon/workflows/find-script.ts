import { readdir } from 'node:fs/promises'
import { extname, join, resolve } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import { shippedFolder } from '../shipped-folder.ts'

const endings = new Set(['.ts', '.mts', '.mjs'])

/** The file of a script: a path from the project, or a name that the project's folders or the package know. */
export async function findScript(root: string, word: string): Promise<string> {
  if (word.includes('/') || endings.has(extname(word))) return resolve(root, word)
  const names = new Set<string>()
  for (const folder of [
    join(root, '.muster/workflows'),
    join(root, 'workflows'),
    shippedFolder('workflows'),
  ]) {
    const files = (await readdir(folder).catch(() => [])).filter((file) => endings.has(extname(file)))
    const found = files.find((file) => file.slice(0, -extname(file).length) === word)
    if (found !== undefined) return join(folder, found)
    for (const file of files) names.add(file.slice(0, -extname(file).length))
  }
  throw new AppError(
    'not_found',
    `no script is called ${word}; there are: ${[...names].toSorted().join(', ')}`,
  )
}
