import { promises as fs } from 'node:fs'
import { dirname, join } from 'node:path'
import type { SessionFolders } from '../../ports/session-folders.ts'
import { privateFolder } from './durable-files.ts'

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
