import { constants, promises as fs } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DocumentFolder, SessionFolders } from '../../ports/files.ts'
import type { Cursors } from '../../ports/storage.ts'

/** Two writers of one file must not share a half-written one. */
let writes = 0

/** Writes a file so that a crash leaves the old one or the new one, never a half. */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  writes = (writes + 1) % 1000
  const temporary = `${path}.new${writes}`
  const handle = await fs.open(temporary, 'w', 0o600)
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await fs.rename(temporary, path)
  await syncFolder(dirname(path))
}

/** Makes new and renamed names inside a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await fs.open(path, constants.O_RDONLY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** A private folder, made with its parents. */
export async function privateFolder(path: string): Promise<string> {
  await fs.mkdir(path, { recursive: true, mode: 0o700 })
  return path
}

/** One small file per follower. */
export async function cursorFiles(dir: string): Promise<Cursors> {
  await privateFolder(dir)
  return {
    async load(name) {
      const text = await fs.readFile(join(dir, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return '0'
        throw error
      })
      const seq = Number(text)
      return Number.isInteger(seq) && seq > 0 ? seq : 0
    },
    save: (name, seq) => replaceFile(join(dir, name), String(seq)),
  }
}

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

/** Session folders under the state folder. */
export function sessionFolders(root: string): SessionFolders {
  return {
    open: async (shortId) => privateFolder(join(root, shortId)),
    async write(files) {
      for (const { path, text, mode } of files) {
        await privateFolder(dirname(path))
        await fs.writeFile(path, text, { mode })
        // The mode of an existing file is left as it was by a write.
        await fs.chmod(path, mode)
      }
    },
    remove: (shortId) => fs.rm(join(root, shortId), { recursive: true, force: true }),
    list: () =>
      fs.readdir(root).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return []
        throw error
      }),
  }
}
