import { createHash } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import type { LoadedConfig } from '../../contract/config.ts'
import { AppError } from '../../contract/errors.ts'
import { archivePath, isTemporary } from './archive-path.ts'
import { findProject } from './find-project.ts'
import { judgeProject } from './judge-project.ts'
import { mergeLayers, type NamedLayer } from './merge-layers.ts'
import { type MusterPaths, musterPaths, type PathEnvironment } from './muster-paths.ts'
import { type Layer, parseLayer } from './parse-layer.ts'
import { readText } from './read-text.ts'

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
    return `${file}:${line}:${column} ${key === '' ? '' : `${key}: `}${message}`
  })
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
  throw new AppError(
    'invalid',
    [`the configuration has ${count}; mend it and try again`, ...lines].join('\n'),
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
        `${origin.file}:${origin.line} ${key}: ${archive_path} is emptied by the machine itself; choose another folder to keep the archives`,
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
