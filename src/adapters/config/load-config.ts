import { createHash } from 'node:crypto'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { projectMaySet } from '../../contract/config/config-keys.ts'
import { flattenConfig } from '../../contract/config/flatten-config.ts'
import type { Config, LoadedConfig } from '../../contract/config.ts'
import { AppError } from '../../contract/errors.ts'
import type { FileTrust } from '../../ports/definitions.ts'
import { areTrusted, namedPrograms } from '../system/named-programs.ts'
import { findProject, type MusterPaths, musterPaths, type PathEnvironment } from './muster-paths.ts'
import { type Layer, mergeLayers, type NamedLayer, parseLayer } from './parse-layer.ts'

/** From where the configuration is looked for, and what a person trusts of a project. */
export type ConfigSource = PathEnvironment & {
  readonly cwd: string
  readonly projectTrust: (root: string) => FileTrust
  /** The work is to be done in a work tree that is not there yet: a file that is named here is another one there. */
  readonly isForWorktree?: boolean
}

/** Reads the user's and the project's file, checks them whole, and lays them over the defaults. */
export async function loadConfig(source: ConfigSource, signal: AbortSignal): Promise<LoadedConfig> {
  return layered(await readUser(musterPaths(source), signal), source, signal)
}

/** The user's file as it is now, for a daemon that serves every project; `inProject` lays that of a folder over it. */
export async function daemonConfig(place: PathEnvironment, signal: AbortSignal): Promise<DaemonConfig> {
  const user = await readUser(musterPaths(place), signal)
  const below = user === undefined ? [] : [user]
  refuseProblems(below)
  const loaded = finish(below, place)
  return {
    loaded,
    // Most folders have no file of their own.
    inProject: async (source, during) =>
      (await findProject(source.cwd, place.home)).file === undefined
        ? loaded
        : layered(user, { ...place, ...source }, during),
  }
}

/** Settings of the user, and on top of them those of a project. */
export type DaemonConfig = {
  readonly loaded: LoadedConfig
  inProject(source: Omit<ConfigSource, keyof PathEnvironment>, signal: AbortSignal): Promise<LoadedConfig>
}

async function layered(
  user: LayerFile | undefined,
  source: ConfigSource,
  signal: AbortSignal,
): Promise<LoadedConfig> {
  const { root, file } = await findProject(source.cwd, source.home)
  const project =
    file === undefined || (await isSame(file, user?.file)) ? undefined : await readProject(file, root, signal)
  const below = user === undefined ? [] : [user]
  refuseProblems(project === undefined ? below : [...below, project])
  if (project === undefined) return finish(below, source)

  const { file: name, sha256 } = project
  const judged = judgeProject(project, mergeLayers(below).config)
  const programs = await namedPrograms(root, commandsOf(judged.waiting), await realpath(source.cwd))
  const trusts = source.projectTrust(root)
  const trusted =
    trusts(relative(root, name), sha256) &&
    areTrusted(programs, trusts) &&
    !(source.isForWorktree && programs.length > 0)
  const waiting = trusted ? [] : judged.waiting
  const values = project.values.filter((one) => !judged.never.includes(one) && !waiting.includes(one))
  const loaded = finish([...below, { file: name, values: fromRoot(values, root) }], source)
  const held = heldWarnings(name, waiting, judged.never)
  return {
    ...loaded,
    warnings: [...held, ...loaded.warnings],
    project: {
      file: name,
      sha256,
      trusted,
      waiting: judged.waiting.map(({ key, value }) => ({ key, value })),
      programs,
      warnings: held,
      ignored: project.values.filter((one) => !values.includes(one)).map(({ key }) => key),
    },
  }
}

type LayerFile = Layer & { readonly file: string; readonly sha256: string }

async function readUser(paths: MusterPaths, signal: AbortSignal): Promise<LayerFile | undefined> {
  const user = await readFile(paths.userConfig, signal)
  if (user !== undefined || !paths.isUserConfigNamed) return user
  throw new AppError(
    'invalid',
    `MUSTER_CONFIG names ${paths.userConfig}, which does not exist; create it or unset MUSTER_CONFIG`,
  )
}

/**
 * A link out of the project is not followed: what is wrong with a file is told in its words, and who put the link there
 * may be a session that cannot read where it leads.
 */
async function readProject(file: string, root: string, signal: AbortSignal): Promise<LayerFile | undefined> {
  if (await isWithin(file, root)) return readFile(file, signal)
  return refusedFile(file, 'is a link that leads out of the project; put the file itself there')
}

function refusedFile(file: string, why: string): LayerFile {
  const problem = { line: 1, column: 1, key: '', message: `this file ${why}` }
  return { file, sha256: '', values: [], problems: [problem] }
}

async function readFile(file: string, signal: AbortSignal): Promise<LayerFile | undefined> {
  const read = await readText(file, signal)
  if (read === undefined) return undefined
  if ('refused' in read) return refusedFile(file, read.refused)
  return { file, sha256: createHash('sha256').update(read.bytes).digest('hex'), ...parseLayer(read.text) }
}

/** A link out of the project leads to a file that others write. */
async function isWithin(file: string, root: string): Promise<boolean> {
  return (await realpath(file)).startsWith(root + sep)
}

async function isSame(file: string, other: string | undefined): Promise<boolean> {
  return other !== undefined && (await realpath(file)) === (await realpath(other))
}

function refuseProblems(files: readonly LayerFile[]): void {
  const problems = files.flatMap(({ file, problems }) => problems.map((problem) => ({ file, ...problem })))
  if (problems.length === 0) return
  const lines = problems.map(({ file, line, column, key, message }) => {
    // What the file says must not pass for another problem.
    return `${file}:${line}:${column} ${key === '' ? '' : `${key}: `}${message}`.replaceAll(/[\r\n]+/g, ' ')
  })
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
  throw new AppError(
    'invalid',
    [`the configuration has ${count}; fix it and try again`, ...lines].join('\n'),
    {
      details: { problems },
    },
  )
}

function finish(layers: readonly NamedLayer[], place: PathEnvironment): LoadedConfig {
  const { config, origins, warnings } = mergeLayers(layers)
  const key = 'child_agents.cleanup.archive_path'
  const { stateDir } = musterPaths(place)
  const archive_path = archivePath(config.child_agents.cleanup.archive_path, { stateDir, home: place.home })
  const origin = origins[key]
  const isRisky = origin !== undefined && origin !== 'default' && isTemporary(archive_path)
  const warning = isRisky
    ? [
        `${origin.file}:${origin.line} ${key}: ${archive_path} is emptied by the system; choose another folder for the archives`,
      ]
    : []
  const { child_agents } = config
  return {
    config: {
      ...config,
      child_agents: { ...child_agents, cleanup: { ...child_agents.cleanup, archive_path } },
    },
    origins,
    warnings: [...warnings, ...warning],
    files: layers.map(({ file }) => file),
  }
}

type Values = NamedLayer['values']

/** Tells what of a project file waits for trust, and what it may never decide, from what always applies. */
function judgeProject(project: NamedLayer, below: Config): { waiting: Values; never: Values } {
  const current = new Map(flattenConfig(below).map(({ key, value }) => [key, value]))
  const verdicts = project.values.map((one) => projectMaySet(one.key, one.value, current.get(one.key)))
  return {
    waiting: project.values.filter((_one, i) => verdicts[i] === 'trusted'),
    never: project.values.filter((_one, i) => verdicts[i] === 'never'),
  }
}

/** The words of commands that settings have run. */
const commandsOf = (values: Values): string[] =>
  values.flatMap(({ value }) => [value].flat()).filter((word) => typeof word === 'string')

/** A command that is a path means that file of the project, wherever in it the work is done. */
const fromRoot = (values: Values, root: string): Values =>
  values.map((one) =>
    /(^|[._])command$/.test(one.key) &&
    typeof one.value === 'string' &&
    one.value.includes('/') &&
    !isAbsolute(one.value)
      ? { ...one, value: resolve(root, one.value) }
      : one,
  )

function heldWarnings(file: string, waiting: Values, never: Values): string[] {
  const list = (values: Values) => values.map(({ key, line }) => `${key} (line ${line})`).join(', ')
  return [
    ...(waiting.length > 0
      ? [`${file} is not trusted as it is, so it may not set ${list(waiting)}; see: sm trust`]
      : []),
    ...(never.length > 0
      ? [`${file} may not set ${list(never)}; put what you need into your own settings`]
      : []),
  ]
}

/** Makes the folder of the archived transcripts absolute: `~` is home, a relative path starts at the state folder. */
function archivePath(written: string, dirs: { stateDir: string; home: string }): string {
  if (written === '~' || written.startsWith('~/')) return join(dirs.home, written.slice(1))
  return resolve(dirs.stateDir, written)
}

/** Tells whether a folder is one that the machine empties by itself. */
function isTemporary(dir: string): boolean {
  return ['/tmp', '/dev/shm', tmpdir()].some((temp) => dir === temp || dir.startsWith(temp + sep))
}

const maxBytes = 1024 * 1024

/** The bytes of a small text file, or the reason why it cannot be used. */
type ReadText =
  | { readonly bytes: Uint8Array; readonly text: string }
  | { readonly refused: string }
  | undefined

/** Reads a small UTF-8 file without its byte-order mark; nothing when it does not exist. */
async function readText(file: string, signal: AbortSignal): Promise<ReadText> {
  let handle: FileHandle
  try {
    handle = await open(file, 'r')
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    return { refused: `cannot be opened (${code})` }
  }
  try {
    const stat = await handle.stat()
    // A pipe or a device under this name would never end.
    if (!stat.isFile()) return { refused: 'is not a regular file' }
    if (stat.size > maxBytes) return { refused: `is larger than ${maxBytes} bytes` }
    const bytes = await handle.readFile({ signal })
    return { bytes, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch (error) {
    if (codeOf(error) === 'ERR_ENCODING_INVALID_ENCODED_DATA') return { refused: 'is not UTF-8 text' }
    throw error
  } finally {
    await handle.close()
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
}
