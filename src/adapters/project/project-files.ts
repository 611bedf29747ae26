import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { extname, isAbsolute, join, resolve } from 'node:path'
import { type Crew, styleGuideChars } from '../../contract/crew.ts'
import { AppError } from '../../contract/errors.ts'
import type { ProjectFiles } from '../../ports/files.ts'
import { placeInside } from '../system/place.ts'

/** The files of projects on this disk; `shippedDir` holds the scripts that come with the package. */
export const projectFiles = (shippedDir: string): ProjectFiles => ({
  folder: projectFolder,
  script: (root, word) => findScript(shippedDir, root, word),
  styleGuide: readStyleGuide,
})

/** What the name of a script ends in. */
export const scriptEndings: ReadonlySet<string> = new Set(['.ts', '.mts', '.mjs'])

/** Where a project keeps scripts that are run by name. */
export const scriptFolders = (root: string): readonly string[] => [
  join(root, '.muster/workflows'),
  join(root, 'workflows'),
]

/** The file of a script: a path from the project, or a name that the project's folders or the package know. */
async function findScript(shippedDir: string, root: string, word: string): Promise<string> {
  if (word.includes('/') || scriptEndings.has(extname(word))) return resolve(root, word)
  const names = new Set<string>()
  // What came with the package is what its name means, whatever a project has beside it.
  for (const folder of [shippedDir, ...scriptFolders(root)]) {
    const files = (await readdir(folder).catch(() => [])).filter((file) => scriptEndings.has(extname(file)))
    const found = files.find((file) => file.slice(0, -extname(file).length) === word)
    if (found !== undefined) return join(folder, found)
    for (const file of files) names.add(file.slice(0, -extname(file).length))
  }
  throw new AppError(
    'not_found',
    `there is no script called ${word}; choose one of: ${[...names].toSorted().join(', ')}`,
  )
}

/** A folder that a caller names, as a full path with links resolved. */
async function projectFolder(path: string): Promise<string> {
  const found = isAbsolute(path) ? await stat(path).catch(() => undefined) : undefined
  if (!found?.isDirectory())
    throw new AppError('invalid', `project_root ${path} is not a folder; give the full path of one`)
  return realpath(path)
}

/** The text of a crew's style guide; one in a file is read from the project, and refused when it is not there. */
async function readStyleGuide(
  root: string,
  { name, styleGuide, file: crewFile }: Pick<Crew, 'name' | 'styleGuide' | 'file'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (styleGuide === undefined || typeof styleGuide === 'string') return styleGuide
  const { file } = styleGuide
  const refused = (what: string) =>
    new AppError(
      'invalid',
      `the style guide of the crew ${name}: ${file} ${what}, or change style_guide in ${crewFile}`,
    )
  const { full } = await placeInside(root, file)
  const found = await stat(full).catch(() => undefined)
  if (!found?.isFile()) throw refused(`is not a file in ${root}; create it`)
  const tooLong = () => refused(`has more than ${styleGuideChars} characters; shorten it`)
  // A character has at most four bytes: what is larger need not be read.
  if (found.size > 4 * styleGuideChars) throw tooLong()
  const text = await textOf(full, signal)
  if (text === undefined || text.trim() === '') throw refused('has no text; write some')
  if (text.length > styleGuideChars) throw tooLong()
  return text
}

async function textOf(path: string, signal: AbortSignal): Promise<string | undefined> {
  const bytes = await readFile(path, { signal })
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return text.includes('\0') ? undefined : text
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}
