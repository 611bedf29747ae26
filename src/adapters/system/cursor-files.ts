import { promises as fs } from 'node:fs'
import { join } from 'node:path'
import type { Cursors } from '../../ports/cursors.ts'
import { privateFolder, replaceFile } from './durable-files.ts'

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
