import { createHash } from 'node:crypto'
import { accessSync, chmodSync, constants, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { builtSeq } from '../adapters/sqlite/open-follower.ts'
import { cursorFiles, privateFolder, replaceFile } from '../adapters/system/durable-files.ts'
import { AppError } from '../contract/errors.ts'
import { homeFiles as names, sessionFiles } from '../contract/home.ts'

/** Every file the daemon keeps, under one private folder. */
export const homeFiles = (home: string) => ({
  home,
  journal: join(home, 'journal'),
  index: join(home, 'index.db'),
  search: join(home, 'search.db'),
  vault: join(home, 'vault'),
  vaultKey: join(home, 'vault.key'),
  grants: join(home, 'grants.json'),
  trust: join(home, 'trust.json'),
  cursors: join(home, 'cursors'),
  sessions: join(home, sessionFiles.folder),
  collaborations: join(home, 'collaborations'),
  bin: join(home, 'bin'),
  tmux: join(home, 'tmux'),
  socket: join(home, names.socket),
  port: join(home, names.port),
  operatorToken: join(home, names.operatorToken),
  log: join(home, names.log),
})

export type HomeFiles = ReturnType<typeof homeFiles>

/** The state folder, made when it is not there, private and writable, or a refusal that says what to do. */
export async function usableHome(home: string): Promise<string> {
  try {
    await privateFolder(home)
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK)
    // A folder that somebody made by hand may be open to others; ours alone may be closed without asking.
    const { mode, uid } = statSync(home)
    if ((mode & 0o077) !== 0 && uid === process.getuid?.()) chmodSync(home, 0o700)
    return home
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const cure = 'fix its owner or permissions with chown or chmod, or set MUSTER_HOME to another folder'
    throw new AppError(
      'denied',
      `the state folder ${home} cannot be written by this user (${code}); ${cure}`,
      { cause: error },
    )
  }
}

/**
 * The last seq that a follower of the journal has seen. Each of them was told of it only after it was acknowledged, so a
 * journal that ends before it has lost its end.
 */
export async function followedSeq(files: HomeFiles): Promise<number> {
  const built = [builtSeq(files.index), builtSeq(files.search)]
  if (!existsSync(files.cursors)) return Math.max(...built)
  const cursors = await cursorFiles(files.cursors)
  // What a crash left half written lies beside its cursor under a longer name.
  const names = readdirSync(files.cursors).filter((name) => !/\.new\d*$/.test(name))
  return Math.max(...built, ...(await Promise.all(names.map((name) => cursors.load(name)))))
}

/** The port of the last run, so that what was told of it (hooks, bookmarks) still finds us; 0 when there was none. */
export function lastPort(path: string): number {
  try {
    const port = Number(readFileSync(path, 'utf8'))
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : 0
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
}

export const keepPort = (path: string, port: number): Promise<void> => replaceFile(path, `${port}\n`)

/** The folder of the package this code belongs to, from source or from a bundle. */
export function packageRoot(from: string = import.meta.url): URL {
  for (let at = new URL('./', from); ; at = new URL('../', at)) {
    if (existsSync(new URL('package.json', at))) return at
    if (at.pathname === '/') throw new Error(`no package.json above ${from}`)
  }
}

/** Where agents are found that belong to no project. */
export const agentHomes = ({
  userAgentsDir,
  claudeAgentsDir,
}: {
  readonly userAgentsDir: string
  readonly claudeAgentsDir: string
}) => ({ shippedDir: shippedFolder('agents'), userDir: userAgentsDir, claudeDir: claudeAgentsDir })

/** Where the definitions lie that come with the package. */
export function shippedFolder(kind: 'agents' | 'crews' | 'workflows'): string {
  return fileURLToPath(new URL(kind, packageRoot()))
}

/** An environment without the names that have no value. */
export const givenEnvironment = (env: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined))

/** The tmux server of a state folder: `muster` for the usual one, another for each other folder, so that they never meet. */
export function socketName(home: string, usualHome: string): string {
  if (home === usualHome) return 'muster'
  return `muster-${createHash('sha256').update(home).digest('hex').slice(0, 8)}`
}
