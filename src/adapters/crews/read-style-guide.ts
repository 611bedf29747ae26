import { readFile, stat } from 'node:fs/promises'
import { type Crew, styleGuideChars } from '../../contract/crew.ts'
import { AppError } from '../../contract/errors.ts'
import { placeInside } from '../system/place.ts'

/** The text of a crew's style guide; one in a file is read from the project, and refused when it is not there. */
export async function readStyleGuide(
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
  if (!found?.isFile()) throw refused(`is no file in ${root}; write it`)
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
