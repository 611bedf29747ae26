import { existsSync, type FSWatcher, watch } from 'node:fs'
import { mkdir, realpath, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { stringify } from 'yaml'
import { type AgentDefinition, AgentFrontmatter, type LoadedAgents } from '../../contract/agent-definition.ts'
import { leavesOf } from '../../contract/config/flatten-config.ts'
import { AppError } from '../../contract/errors.ts'
import type { AgentDefinitions, AgentProject } from '../../ports/definitions.ts'
import {
  type DefinitionFolder,
  type DefinitionFormat,
  type KnownFiles,
  layerDefinitions,
  readDefinitions,
} from '../system/definition-files.ts'
import { parseAgent } from './parse-agent.ts'

/** The folders that do not depend on a project. */
type AgentHomes = { readonly shippedDir: string; readonly userDir: string; readonly claudeDir?: string }

/** Agent definitions from Markdown files on disk. */
export function agentFiles(homes: AgentHomes): AgentDefinitions {
  const known: KnownFiles<AgentDefinition> = new Map()
  return {
    load: (project, signal) => loadAgents({ folders: foldersOf(homes, project), known }, signal),
    watch: (project, onChange, signal) => {
      watchAgents(
        foldersOf(homes, project).map(({ dir }) => dir),
        onChange,
        signal,
      )
    },
  }
}

function foldersOf(homes: AgentHomes, project: AgentProject | undefined): DefinitionFolder[] {
  const shipped: DefinitionFolder[] = [
    { source: 'shipped', dir: homes.shippedDir },
    { source: 'user', dir: homes.userDir },
    ...(homes.claudeDir === undefined
      ? []
      : [{ source: 'user', dir: homes.claudeDir, dialect: 'claude' } as const]),
  ]
  if (project === undefined) return shipped
  const own = { source: 'project', project } as const
  const folders: DefinitionFolder[] = [
    { ...own, dir: join(project.root, '.muster', 'agents') },
    { ...own, dir: join(project.root, 'agents'), isMixed: true },
    { ...own, dir: join(project.root, '.claude', 'agents'), dialect: 'claude' },
  ]
  // In Muster's own checkout the shipped agents are not the project's a second time.
  const taken = shipped.map(({ dir }) => resolve(dir))
  return [...shipped, ...folders.filter(({ dir }) => !taken.includes(resolve(dir)))]
}

/** The folders in which agents are looked for. */
type AgentFolders = {
  readonly folders: readonly DefinitionFolder[]
  readonly known?: KnownFiles<AgentDefinition>
}

/** Reads every agent file, leaves out the broken ones with a reason, and lays the rest over each other. */
export async function loadAgents(from: AgentFolders, signal: AbortSignal): Promise<LoadedAgents> {
  const read = await readDefinitions(from.folders, agentFormat(from.known), signal)
  const { inForce, problems, ...rest } = layerDefinitions({ word: 'agent', found: read, harmless })
  return { agents: inForce, problems: [...read.flatMap((file) => file.problems), ...problems], ...rest }
}

const agentFormat = (known: AgentFolders['known'] = new Map()): DefinitionFormat<AgentDefinition> => ({
  fileName: /^(?!readme\.md$).+\.md$/i,
  known,
  parse: (text, from) => {
    const { agent, problems, hasFrontmatter } = parseAgent(text, from)
    return { definition: agent, problems, isOurs: hasFrontmatter }
  },
  commands: ({ mcp }) =>
    [...leavesOf(mcp)]
      .map(({ value }) => value)
      .flat()
      .map(String),
})

// A cloned repository must not start programs, prompt an agent while nobody looks, or get rights that nobody wrote down.
function harmless(agent: AgentDefinition) {
  const { lines, mcp, idlePrompt, policy } = agent
  const isInferred = lines['policy'] === undefined && policy.allow.length > 0
  return {
    definition: {
      ...agent,
      mcp: undefined,
      idlePrompt: undefined,
      idleIntervalSecs: undefined,
      ...(isInferred && { policy: { ...policy, allow: [] } }),
    },
    held: [
      ...(isInferred ? [{ field: 'policy', says: ['may change files, because of its tools'] }] : []),
      { field: 'mcp', says: serverWords(mcp) },
      { field: 'idle_prompt', says: [`prompts itself while idle: ${idlePrompt}`] },
    ].filter(({ field }) => lines[field] !== undefined || field === 'policy'),
  }
}

const serverWords = (mcp: AgentDefinition['mcp'] = []): string[] =>
  Array.isArray(mcp)
    ? [`uses the MCP servers ${mcp.join(', ')} of the settings`]
    : Object.entries(mcp).map(([name, server]) => `runs the MCP server ${name}: ${JSON.stringify(server)}`)

const settleMs = 50
const retryMs = 2000

/**
 * Calls back after agent files in these folders may have changed; the folders may appear, vanish and come back.
 * Watching is in force when this returns, so load after calling it.
 */
export function watchAgents(dirs: readonly string[], onChange: () => void, signal: AbortSignal): void {
  let watchers: FSWatcher[] = []
  let timer: NodeJS.Timeout | undefined

  const wake = (delayMs = settleMs) => {
    timer ??= setTimeout(() => {
      timer = undefined
      arm()
      onChange()
    }, delayMs)
  }
  // Armed anew before each callback: a folder may be another one under its old name, and a change
  // that comes later than this wakes us again, so the caller never misses one.
  const arm = () => {
    const old = watchers
    watchers = []
    for (const dir of dirs) if (!watchFolder(dir, { wake, watchers })) wake(retryMs)
    for (const watcher of old) watcher.close()
  }
  const stop = () => {
    clearTimeout(timer)
    for (const watcher of watchers) watcher.close()
  }
  if (signal.aborted) return
  signal.addEventListener('abort', stop, { once: true })
  arm()
}

type Watching = { readonly wake: (delayMs?: number) => void; readonly watchers: FSWatcher[] }

function watchFolder(dir: string, watching: Watching): boolean {
  const isAgentFile = (name: string) => /\.md$/i.test(name) || name === basename(dir)
  let nearest = watchPath(dir, isAgentFile, watching)
  // A folder does not hear that a parent was renamed and its path now leads to another folder, so parents are watched too.
  let child = dir
  for (let level = 1; dirname(child) !== child && (nearest === 'absent' || level <= 2); level++) {
    const parent = dirname(child)
    const name = basename(child)
    const outcome = watchPath(parent, (changed) => changed === name, watching)
    if (nearest === 'absent') {
      nearest = outcome
      // What was made between the two attempts would be watched by nobody.
      if (outcome === 'watched' && existsSync(child)) return watchFolder(dir, watching)
    }
    child = parent
  }
  return nearest === 'watched'
}

function watchPath(path: string, concerns: (name: string) => boolean, { wake, watchers }: Watching) {
  try {
    const watcher = watch(path, { persistent: false }, (_, name) => {
      if (name === null || concerns(name)) wake()
    })
    watcher.on('error', () => wake(retryMs))
    watchers.push(watcher)
    return 'watched'
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'absent'
    // Out of watches or out of permission: looking again from time to time is all that is left.
    return 'failed'
  }
}

/** What is written: frontmatter in this order, and a prompt. */
type AgentText = {
  readonly name: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly prompt: string
}

/** A folder of agents; what is written there stays below `within`. */
type WritableFolder = { readonly dir: string; readonly within?: string | undefined }

/** Writes a new agent file, with every field explained; one that is there already is never touched. */
export async function writeAgent(agent: AgentText, { dir, within }: WritableFolder): Promise<string> {
  await mkdir(dir, { recursive: true })
  if (within !== undefined && relative(await realpath(within), await realpath(dir)).startsWith('..'))
    throw new AppError('denied', `${dir} is a link that leaves the project; write to your own folder: --user`)
  const file = join(dir, `${agent.name}.md`)
  try {
    await writeFile(file, agentText(agent), { flag: 'wx' })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    throw new AppError('conflict', `${file} already exists; see what is wrong with it: sm agents check`)
  }
  return file
}

function agentText({ fields, prompt }: AgentText): string {
  const lines = Object.entries(fields).map(([key, value]) => {
    const about = (AgentFrontmatter.shape as Record<string, { description?: string | undefined }>)[key]
    const text = stringify(value, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: false })
    return `# ${about?.description ?? ''}\n${key}: ${text}`
  })
  return `---\n${lines.join('')}---\n\n${prompt}\n`
}
