import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import type { AgentProblem, AgentSource, LoadedAgents } from '../../contract/agent-definition.ts'
import { layerAgents } from './layer-agents.ts'
import { type ParsedAgent, parseAgent } from './parse-agent.ts'

const maxBytes = 1024 * 1024

/** A folder with agent files. */
export type AgentFolder = {
  readonly source: AgentSource
  readonly dir: string
  /** Files that a link takes out of this folder are refused. */
  readonly within?: string
  /** A folder that also holds other Markdown: files without frontmatter are none of ours. */
  readonly isMixed?: boolean
}

/** The folders in which agents are looked for. */
export type AgentFolders = {
  readonly folders: readonly AgentFolder[]
  readonly projectTrusted: boolean
  /** Files as they were last parsed: they are read for every spawn and hardly ever change. */
  readonly known?: KnownFiles
}

/** What came of a file, by its path. */
export type KnownFiles = Map<string, { readonly text: string; readonly parsed: ParsedAgent }>

const mostKnown = 1000

/** Reads every agent file, leaves out the broken ones with a reason, and lays the rest over each other. */
export async function loadAgents(from: AgentFolders, signal: AbortSignal): Promise<LoadedAgents> {
  const parsed: ParsedAgent[] = []
  const { known = new Map() } = from
  for (const folder of from.folders) {
    const files = await agentFilesIn(folder.dir)
    const all = await Promise.all(
      files.map((file) => readAgent(join(folder.dir, file), { folder, known, signal })),
    )
    parsed.push(...all.filter((read) => read.hasFrontmatter || !folder.isMixed))
  }
  const agents = parsed.map(({ agent }) => agent).filter((agent) => agent !== undefined)
  const layered = layerAgents({ agents, trusted: from.projectTrusted })
  return { ...layered, problems: [...parsed.flatMap(({ problems }) => problems), ...layered.problems] }
}

async function agentFilesIn(dir: string): Promise<string[]> {
  const names = await readdir(dir).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  return names.filter((name) => /^[^.].*\.md$/i.test(name) && !/^readme\.md$/i.test(name)).toSorted()
}

async function readAgent(
  file: string,
  at: { folder: AgentFolder; known: KnownFiles; signal: AbortSignal },
): Promise<ParsedAgent> {
  const { source, within } = at.folder
  try {
    if (within !== undefined && !(await isInside(file, within)))
      return refused(file, 'is a link that leaves the project')
    const { size, isFile } = await sizeOf(file)
    if (!isFile) return refused(file, 'is not a regular file')
    if (size > maxBytes) return refused(file, `is larger than ${maxBytes} bytes`)
    const text = await readFile(file, { encoding: 'utf8', signal: at.signal })
    const before = at.known.get(file)
    if (before?.text === text) return before.parsed
    const parsed = parseAgent(text, { file, source })
    if (at.known.size >= mostKnown) at.known.clear()
    at.known.set(file, { text, parsed })
    return parsed
  } catch (error) {
    // Files come and go while a folder is read: an editor saves by renaming.
    if (isMissing(error)) return { agent: undefined, problems: [], hasFrontmatter: false }
    if (error instanceof Error && 'code' in error && error.code === 'EACCES')
      return refused(file, 'cannot be read (EACCES)')
    throw error
  }
}

async function isInside(file: string, dir: string): Promise<boolean> {
  return (await realpath(file)).startsWith((await realpath(dir)) + sep)
}

async function sizeOf(file: string): Promise<{ size: number; isFile: boolean }> {
  const found = await stat(file)
  return { size: found.size, isFile: found.isFile() }
}

function refused(file: string, why: string): ParsedAgent {
  const problem: AgentProblem = { file, line: 1, severity: 'error', message: `this file ${why}` }
  return { agent: undefined, problems: [problem], hasFrontmatter: true }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}
