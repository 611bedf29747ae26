import { promises as fs } from 'node:fs'
import { join } from 'node:path'
import type { DocumentFolder } from '../../ports/document-folder.ts'
import { privateFolder, replaceFile } from './durable-files.ts'

/** Documents in one folder of the disk. */
export const documentFolder = (folder: string): DocumentFolder => ({
  prepare: async () => {
    await privateFolder(folder)
  },
  pathOf: (name) => join(folder, name),
  has: (name) =>
    fs.access(join(folder, name)).then(
      () => true,
      () => false,
    ),
  read: (path) => fs.readFile(path, 'utf8'),
  replace: replaceFile,
})
