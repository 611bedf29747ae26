import { promises as fs } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { AppError } from '../../contract/errors.ts'

type Around = {
  readonly env: Readonly<Record<string, string>>
  /** What the configuration adds. */
  readonly extra: readonly string[]
  readonly hidden: readonly string[]
}

/** The folder that it works in, the repository of a linked work tree, and what the configuration adds. */
export async function writableFor(
  { workingDir, treeOf }: { readonly workingDir: string; readonly treeOf?: string },
  { env, extra, hidden }: Around,
): Promise<readonly string[]> {
  const home = await real(env['HOME'] ?? homedir())
  const more = await Promise.all(extra.map((path) => real(path.replace(/^~(?=\/|$)/, home))))
  const there = await Promise.all(more.map((path) => fs.stat(path).then(() => path, absent)))
  const added = there.filter((path) => path !== undefined)
  // One that we make ourselves lies in the state folder, and nothing else of that is opened.
  if (treeOf !== undefined) {
    const repository = (await linkedRepository(await real(treeOf))) ?? join(await real(treeOf), '.git')
    return [workingDir, repository, ...added]
  }
  const work = await real(workingDir)
  const guarded = await Promise.all([home, ...hidden].map(real))
  for (const path of guarded) {
    if (isWithin(path, work))
      throw new AppError(
        'invalid',
        `${workingDir} holds ${path}, which an isolated session must not write; name a folder of the project`,
      )
  }
  const inside = guarded.slice(1).find((path) => isWithin(work, path))
  if (inside)
    throw new AppError('invalid', `${workingDir} lies in ${inside}, which is hidden; name another folder`)
  const repository = await linkedRepository(work)
  return [work, ...(repository ? [repository] : []), ...added]
}

const isWithin = (path: string, folder: string): boolean =>
  path === folder || folder === '/' || path.startsWith(`${folder}/`)

const real = (path: string): Promise<string> => fs.realpath(path).catch(() => resolve(path))

/** Commits of a linked work tree go to the repository that it belongs to. */
async function linkedRepository(workingDir: string): Promise<string | undefined> {
  for (let at = workingDir; at !== dirname(at); at = dirname(at)) {
    const link = await fs.readFile(join(at, '.git'), 'utf8').catch(absent)
    const [, folder] = /^gitdir: (.+)$/m.exec(link ?? '') ?? []
    if (folder === undefined) continue
    const common = await fs.readFile(join(resolve(at, folder), 'commondir'), 'utf8').catch(absent)
    return common && real(resolve(at, folder, common.trim()))
  }
  return undefined
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (['ENOENT', 'EISDIR', 'ENOTDIR'].includes(error.code ?? '')) return undefined
  throw error
}
