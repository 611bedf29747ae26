import { realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const fileName = '.muster.yaml'

/** The folder that counts as the project, and its configuration file when there is one. */
export type Project = { readonly root: string; readonly file: string | undefined }

/**
 * Looks for the nearest `.muster.yaml` from a folder upwards, as far as the git root, or the home folder when
 * there is no repository.
 */
export async function findProject(cwd: string, home: string): Promise<Project> {
  const start = await realpath(cwd)
  const ancestors = [...upwards(start)]
  const gitRoot = await firstWith(ancestors, '.git')
  const homeDir = await realpath(home).catch(() => home)
  // Without a repository and outside of home, a parent may belong to somebody else (/tmp), so only the folder itself counts.
  const last = gitRoot ?? (ancestors.includes(homeDir) ? homeDir : start)
  const dir = await firstWith(ancestors.slice(0, ancestors.indexOf(last) + 1), fileName)
  return { root: gitRoot ?? dir ?? start, file: dir === undefined ? undefined : join(dir, fileName) }
}

function* upwards(start: string): Generator<string> {
  let dir = start
  while (true) {
    yield dir
    const parent = dirname(dir)
    if (parent === dir) return
    dir = parent
  }
}

async function firstWith(dirs: readonly string[], name: string): Promise<string | undefined> {
  for (const dir of dirs) if (await exists(join(dir, name))) return dir
  return undefined
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
