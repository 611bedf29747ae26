import { createHash } from 'node:crypto'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve, sep } from 'node:path'
import { projectMaySet } from '../../contract/config/config-keys.ts'
import { flattenConfig } from '../../contract/config/flatten-config.ts'
import type { Config, LoadedConfig } from '../../contract/config.ts'
import { AppError } from '../../contract/errors.ts'
import { findProject, type MusterPaths, musterPaths, type PathEnvironment } from './muster-paths.ts'
import { type Layer, mergeLayers, type NamedLayer, parseLayer } from './parse-layer.ts'

/** Whether the owner of this machine has read a project file and lets it decide everything. */
type ProjectTrust = boolean | ((project: { file: string; sha256: string }) => boolean | Promise<boolean>)

/** From where the configuration is looked for. */
export type ConfigSource = PathEnvironment & { readonly cwd: string; readonly projectTrust: ProjectTrust }

/** Reads the user's and the project's file, checks them whole, and lays them over the defaults. */
export async function loadConfig(source: ConfigSource, signal: AbortSignal): Promise<LoadedConfig> {
  const paths = musterPaths(source)
  const user = await readUser(paths, signal)
  const { file } = await findProject(source.cwd, source.home)
  const project =
    file === undefined || (await isSame(file, user?.file)) ? undefined : await readFile(file, signal)
  const files = [user, project].filter((layer) => layer !== undefined)
  refuseProblems(files)
  if (project === undefined) return finish(files, { source, paths })

  const { file: name, sha256 } = project
  const trust = source.projectTrust
  const trusted = typeof trust === 'boolean' ? trust : await trust({ file: name, sha256 })
  if (trusted)
    return { ...finish(files, { source, paths }), project: { file: name, sha256, trusted, ignored: [] } }
  const below = user === undefined ? [] : [user]
  const judged = judgeProject(project, mergeLayers(below).config)
  const loaded = finish([...below, judged.layer], { source, paths })
  return {
    ...loaded,
    warnings: [...judged.warnings, ...loaded.warnings],
    project: { file: name, sha256, trusted, ignored: judged.ignored },
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

async function readFile(file: string, signal: AbortSignal): Promise<LayerFile | undefined> {
  const read = await readText(file, signal)
  if (read === undefined) return undefined
  if ('refused' in read) {
    const problem = { line: 1, column: 1, key: '', message: `this file ${read.refused}` }
    return { file, sha256: '', values: [], problems: [problem] }
  }
  return { file, sha256: createHash('sha256').update(read.bytes).digest('hex'), ...parseLayer(read.text) }
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

function finish(
  layers: readonly NamedLayer[],
  at: { source: ConfigSource; paths: MusterPaths },
): LoadedConfig {
  const { config, origins, warnings } = mergeLayers(layers)
  const key = 'child_agents.cleanup.archive_path'
  const { stateDir } = at.paths
  const archive_path = archivePath(config.child_agents.cleanup.archive_path, {
    stateDir,
    home: at.source.home,
  })
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

/** The part of a project file that applies, and the part that waits for trust. */
type JudgedProject = {
  readonly layer: NamedLayer
  readonly ignored: readonly string[]
  readonly warnings: readonly string[]
}

/** Holds back what an untrusted project file may not decide over the configuration below it. */
function judgeProject(project: NamedLayer, below: Config): JudgedProject {
  const current = new Map(flattenConfig(below).map(({ key, value }) => [key, value]))
  const allowed = project.values.filter(({ key, value }) => projectMaySet(key, value, current.get(key)))
  const held = project.values.filter((value) => !allowed.includes(value))
  const list = held.map(({ key, line }) => `${key} (line ${line})`).join(', ')
  return {
    layer: { file: project.file, values: allowed },
    ignored: held.map(({ key }) => key),
    warnings:
      held.length === 0
        ? []
        : [
            `${project.file} is not trusted, so it may not set ${list}; put what you need into your own settings`,
          ],
  }
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
