import { readdir, realpath, stat } from 'node:fs/promises'
import { dirname, extname, isAbsolute, join, relative } from 'node:path'
import type { DaemonConfig } from '../adapters/config/load-config.ts'
import { findProject } from '../adapters/config/muster-paths.ts'
import { repositoryDrivers } from '../adapters/git/repository-settings.ts'
import { projectServers } from '../adapters/lsp/find-server.ts'
import { scriptEndings, scriptFolders } from '../adapters/project/project-files.ts'
import { type ParseScript, readScript } from '../adapters/scripts/read-script.ts'
import { noEntries } from '../adapters/system/foreign-files.ts'
import { canWall } from '../adapters/system/shell-sandbox.ts'
import type { HeldDefinition, NamedProgram } from '../contract/definition-file.ts'
import { AppError } from '../contract/errors.ts'
import type { ProjectInspection, TrustItem } from '../contract/project-trust.ts'
import { scriptHash } from '../contract/script.ts'
import type { AgentDefinitions, AgentProject, CrewDefinitions } from '../ports/definitions.ts'

export type InspectionParts = {
  readonly home: string
  readonly settings: Pick<DaemonConfig, 'inProject'>
  readonly agents: AgentDefinitions
  readonly crews: CrewDefinitions
  readonly parse: ParseScript
  readonly shippedScripts: string
  /** The daemon's own environment. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Everything in the project of a folder that could run a program or loosen a rule, whether it is trusted or not. */
export async function inspectProject(
  parts: InspectionParts,
  path: string,
  signal: AbortSignal,
): Promise<ProjectInspection> {
  const folder = isAbsolute(path) ? await stat(path).catch(() => undefined) : undefined
  if (!folder?.isDirectory())
    throw new AppError('not_found', `${path} is not a folder; give the full path of one`)
  const { root, file } = await findProject(path, parts.home)
  const nobody: AgentProject = { root, trusts: () => false }
  const found = await Promise.all([
    settingsOf(parts, root, signal),
    parts.agents.load(nobody, signal).then(({ held }) => definitions('agent', root, held)),
    parts.crews.load(nobody, signal).then(({ held }) => definitions('crew', root, held)),
    scriptsOf(parts, root),
    driversOf(root, signal),
    serversOf(parts, root, signal),
  ])
  const items = found.flatMap((one) => one.items)
  const programs = found.flatMap((one) => one.programs)
  return {
    root,
    items: [...items, ...programItems(programs)],
    notes: [...found.flatMap((one) => one.notes), ...belowRoot(root, file), ...untrustable(programs)],
  }
}

type Found = {
  readonly items: readonly TrustItem[]
  readonly programs: readonly (NamedProgram & { readonly says: string })[]
  readonly notes: readonly string[]
}

const nothing: Found = { items: [], programs: [], notes: [] }

async function settingsOf({ settings }: InspectionParts, root: string, signal: AbortSignal): Promise<Found> {
  const nobody = { cwd: root, projectTrust: () => () => false }
  const loaded = await settings.inProject(nobody, signal).catch((error: unknown) => {
    if (error instanceof AppError) return error
    throw error
  })
  if (loaded instanceof AppError) return { ...nothing, notes: [loaded.message.replaceAll('\n', ' ')] }
  if (!loaded.project) return nothing
  const { file, sha256, waiting, ignored } = loaded.project
  const name = relative(root, file)
  if (relative(root, await realpath(file)).startsWith('..'))
    return { ...nothing, notes: [`${name} is a link that leaves the project, so it is never trusted`] }
  const never = ignored.filter((key) => !waiting.some((one) => one.key === key))
  const says = waiting.map(({ key, value }) => `sets ${key} to ${JSON.stringify(value)}`)
  return {
    items: waiting.length > 0 ? [{ kind: 'settings', file: name, sha256, says }] : [],
    programs: loaded.project.programs.map((program) => ({ ...program, says: `is named by ${name}` })),
    notes:
      never.length > 0
        ? [
            `${name} may not set ${never.join(', ')}, trusted or not; put what you need into your own settings`,
          ]
        : [],
  }
}

function definitions(kind: 'agent' | 'crew', root: string, held: readonly HeldDefinition[]): Found {
  return {
    items: held.map(({ file, sha256, says }) => ({ kind, file: relative(root, file), sha256, says })),
    programs: held.flatMap(({ file, programs }) =>
      programs.map((program) => ({ ...program, says: `is named by ${relative(root, file)}` })),
    ),
    notes: [],
  }
}

async function scriptsOf({ parse, shippedScripts }: InspectionParts, root: string): Promise<Found> {
  const items: TrustItem[] = []
  const notes: string[] = []
  for (const folder of scriptFolders(root).filter((one) => one !== shippedScripts)) {
    const names: string[] = await readdir(folder).catch(noEntries)
    for (const name of names.toSorted()) {
      if (!scriptEndings.has(extname(name))) continue
      const file = relative(root, join(folder, name))
      try {
        const { meta, source } = await readScript(join(folder, name), parse)
        items.push({
          kind: 'script',
          file,
          sha256: scriptHash(source),
          says: [
            `runs unasked when you start it (tools: ${meta.tools?.join(', ') ?? 'those of its agents'}; may change: ${meta.writes?.join(', ') || 'nothing'})`,
          ],
        })
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        notes.push(`${file} cannot be run: ${error.message}`)
      }
    }
  }
  return { items, programs: [], notes }
}

async function driversOf(root: string, signal: AbortSignal): Promise<Found> {
  const drivers = await repositoryDrivers(root, signal)
  return {
    items: drivers
      .filter(({ programs }) => programs.length === 0)
      .map(({ file, sha256, says }) => ({ kind: 'git', file, sha256, says })),
    programs: [],
    notes: drivers.flatMap(({ file, programs }) =>
      programs.map(
        (program) =>
          `${file} runs ${program.file}, which another branch can replace while git checks it out; keep the program outside of the project, or set it in your own git settings`,
      ),
    ),
  }
}

/** Behind walls a language server of the project needs no trust. */
async function serversOf({ env }: InspectionParts, root: string, signal: AbortSignal): Promise<Found> {
  const servers = await projectServers(root)
  if (servers.length === 0 || (await canWall(env, signal, { isOffline: true }))) return nothing
  const says = 'runs as the language server of built-in agents, unasked and without walls'
  return { ...nothing, programs: servers.map((program) => ({ ...program, says })) }
}

function programItems(programs: Found['programs']): TrustItem[] {
  const files = new Map<string, TrustItem>()
  for (const { file, sha256, says } of programs) {
    if (sha256 === '') continue
    const all = [...(files.get(file)?.says ?? []), says]
    files.set(file, { kind: 'program', file, sha256, says: all })
  }
  return [...files.values()]
}

const belowRoot = (root: string, file: string | undefined): string[] =>
  file === undefined || dirname(file) === root
    ? []
    : [`${relative(root, file)} is not in ${root} itself, so it is never trusted`]

const untrustable = (programs: Found['programs']): string[] =>
  programs
    .filter(({ sha256 }) => sha256 === '')
    .map(({ file, says }) => `${file} cannot be looked at, so what it is for (it ${says}) is held back`)
