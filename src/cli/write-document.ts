import { stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileProblem } from './read-file.ts'

/** Where a document goes: a file, or a folder in which it takes its own name. */
export type Destination = { readonly out: string; readonly cwd: string; readonly filename: string }

/** Writes a document to a new file and answers its path; an existing file is never replaced. */
export async function writeDocument(document: unknown, { out, cwd, filename }: Destination): Promise<string> {
  const path = resolve(cwd, out)
  const file = (await isFolder(path)) || out.endsWith('/') ? join(path, filename) : path
  try {
    await writeFile(file, `${JSON.stringify(document, null, 2)}\n`, { flag: 'wx' })
  } catch (error) {
    throw fileProblem(error, file)
  }
  return file
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false
}
