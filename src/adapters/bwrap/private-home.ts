import { promises as fs } from 'node:fs'
import { join } from 'node:path'
import type { ConfigHome } from '../../ports/isolation.ts'
import { privateFolder } from '../system/durable-files.ts'

const mostBytes = 4 << 20

/**
 * A CLI's folder as a session behind walls sees it: conversations are the user's own, settings are copies and folders
 * read-only. Else it could leave a hook or a server there that the user's next session runs outside.
 */
export async function privateHome(home: ConfigHome, folder: string): Promise<readonly string[]> {
  await privateFolder(folder)
  for (const { name, isFolder } of home.shared)
    if (isFolder) await fs.mkdir(join(home.path, name), { recursive: true, mode: 0o700 })
  const mounts: string[] = ['--bind', folder, home.path]
  const shared = new Set(home.shared.map(({ name }) => name))
  for (const name of await fs.readdir(home.path)) {
    const path = join(home.path, name)
    const stat = await fs.stat(path).catch(() => undefined)
    if (stat === undefined || home.fresh.includes(name)) continue
    if (shared.has(name)) mounts.push('--bind', path, path)
    else if (stat.isFile() && stat.size <= mostBytes) await fs.copyFile(path, join(folder, name))
    else if (stat.isFile() || stat.isDirectory()) mounts.push('--ro-bind', path, path)
  }
  for (const { from, name } of home.copied)
    await fs.copyFile(from, join(folder, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  return mounts
}
