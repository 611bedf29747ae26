import { realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import { AppError } from '../../contract/errors.ts'

/** What the environment says about places. */
export type PathEnvironment = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly home: string
}

/** Where Muster keeps and looks for things. */
export type MusterPaths = {
  readonly stateDir: string
  readonly userConfig: string
  /** A file that was named by hand must exist; the usual one need not. */
  readonly isUserConfigNamed: boolean
  readonly userAgentsDir: string
  /** Where Claude Code keeps a user's own agents. */
  readonly claudeAgentsDir: string
  readonly userCrewsDir: string
}

/** Finds Muster's folders by the XDG rules, `MUSTER_HOME` and `MUSTER_CONFIG`. */
export function musterPaths({ env, home }: PathEnvironment): MusterPaths {
  const configDir = join(xdg(env['XDG_CONFIG_HOME']) ?? join(home, '.config'), 'muster')
  const named = absolute('MUSTER_CONFIG', env)
  return {
    stateDir:
      absolute('MUSTER_HOME', env) ??
      join(xdg(env['XDG_STATE_HOME']) ?? join(home, '.local', 'state'), 'muster'),
    userConfig: named ?? join(configDir, 'config.yaml'),
    isUserConfigNamed: named !== undefined,
    userAgentsDir: join(configDir, 'agents'),
    claudeAgentsDir: join(home, '.claude', 'agents'),
    userCrewsDir: join(configDir, 'crews'),
  }
}

// The XDG rules say that a relative path in one of its variables is to be ignored.
function xdg(value: string | undefined): string | undefined {
  return value !== undefined && isAbsolute(value) ? value : undefined
}

// A relative state folder would be a different one in every working folder.
function absolute(name: string, env: PathEnvironment['env']): string | undefined {
  const value = env[name]
  if (value === undefined || value === '') return undefined
  if (!isAbsolute(value)) throw new AppError('invalid', `${name} is ${value}; set it to an absolute path`)
  return value
}

const fileName = '.muster.yaml'

/** The folder that counts as the project, and its configuration file when there is one. */
type Project = { readonly root: string; readonly file: string | undefined }

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
