import { resolve } from 'node:path'
import { AppError } from '../contract/errors.ts'
import type { Io } from './io.ts'
import { readNamedFile } from './read-file.ts'

/** A text as it was given on the command line: the words, a file's content, or standard input for `-`. */
export async function textInput(
  words: string | undefined,
  file: string | undefined,
  io: Pick<Io, 'cwd' | 'signal'>,
): Promise<string | undefined> {
  if (words !== undefined && file !== undefined)
    throw new AppError('invalid', 'the text is given twice, in words and as a file; leave one out')
  const source = words === '-' ? '-' : file
  if (source === undefined) return words
  const text = await readNamedFile(source === '-' ? '-' : resolve(io.cwd, source), io.signal)
  return text.replace(/\r?\n$/, '')
}
