import { glob, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { AppError } from '../contract/errors.ts'
import { fileProblem, neverEnds } from '../contract/file-problem.ts'
import type { Io } from './io.ts'
import { jsonText } from './render/safe-text.ts'

/** A text as it was given on the command line: the words, a file's content, or standard input for `-`. */
export async function textInput(
  words: string | undefined,
  file: string | undefined,
  io: Pick<Io, 'cwd' | 'signal'>,
): Promise<string | undefined> {
  if (words !== undefined && file !== undefined)
    throw new AppError('invalid', 'the text is given twice, as an argument and as a file; leave one out')
  const source = words === '-' ? '-' : file
  if (source === undefined) return words
  const text = await readNamedFile(source === '-' ? '-' : resolve(io.cwd, source), io.signal)
  return text.replace(/\r?\n$/, '')
}

/** Reads a file that was named on the command line; `-` is standard input. */
export async function readNamedFile(file: string, signal: AbortSignal): Promise<string> {
  // By its path, standard input could not be opened when it is a socket, as it is under another program.
  if (file === '-') return text(process.stdin)
  try {
    if ((await stat(file)).isCharacterDevice()) throw neverEnds(file)
    return await readFile(file, { encoding: 'utf8', signal })
  } catch (error) {
    throw fileProblem(error, file)
  }
}

/** The files that were named, and every JSON file below the folders that were. */
export async function sessionFilesIn(paths: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const path of paths) {
    const isFolder = await stat(path).then(
      (entry) => entry.isDirectory(),
      (error: unknown) => {
        // Among others it is named when its turn comes.
        if (paths.length === 1) throw fileProblem(error, path)
        return false
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

/** Where a document goes: a file, or a folder in which it takes its own name. */
type Destination = { readonly out: string; readonly cwd: string; readonly filename: string }

/** Writes a document to a new file and answers its path; an existing file is never replaced. */
export async function writeDocument(document: unknown, { out, cwd, filename }: Destination): Promise<string> {
  const path = resolve(cwd, out)
  const file = (await isFolder(path)) || out.endsWith('/') ? join(path, filename) : path
  try {
    await writeFile(file, `${jsonText(document, 2)}\n`, { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new AppError('not_found', `there is no folder ${dirname(file)}; create it first`, {
        cause: error,
      })
    throw fileProblem(error, file)
  }
  return file
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false
}
