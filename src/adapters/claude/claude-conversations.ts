import { readdir, readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import * as z from 'zod'
import { told } from '../../contract/formats/foreign-json.ts'
import type { Conversation, ForeignSession, TranscriptFile } from '../../ports/agent-cli.ts'
import { openPlain, recordIn } from '../system/foreign-files.ts'
import { parseStat } from '../system/proc-table.ts'
import { isAlive } from '../system/temporary-files.ts'

/** The file of a conversation and those of its subagents, as far as they are there. */
export async function findTranscripts(conversation: Conversation): Promise<readonly TranscriptFile[]> {
  const main = await findMain(conversation)
  return main === undefined ? [] : [{ path: main }, ...(await findSubagents(main))]
}

/**
 * The path of one conversation: as it was told, where the rule puts it, or wherever a file has its id. What was told is
 * a word of the session: it only saves a search.
 */
async function findMain({
  transcript,
  foreignId,
  workingDir,
  env,
}: Conversation): Promise<string | undefined> {
  if (foreignId === undefined) return undefined
  const file = `${foreignId}.jsonl`
  const all = join(configFolder(env), projects)
  if (transcript !== undefined && basename(transcript) === file) return recordIn(all, transcript)
  const usual = await recordIn(all, join(projectFolder(env, workingDir), file))
  if (usual) return usual
  // The CLI resolves links before it names the folder.
  for (const folder of await entries(all)) {
    const path = await recordIn(all, join(all, folder, file))
    if (path) return path
  }
  return undefined
}

const word = z.string().min(1).optional().catch(undefined)
const Meta = z.looseObject({ agentType: word, description: word, toolUseId: word, requestShape: word })

async function findSubagents(main: string): Promise<readonly TranscriptFile[]> {
  const folder = join(dirname(main), basename(main, '.jsonl'), 'subagents')
  const files = await entries(folder, true)
  // After a clear only the descriptions are copied to the new conversation; what was said is in the old one.
  const spoken = files.filter((file) => /^agent-.+\.jsonl$/.test(basename(file))).toSorted()
  return Promise.all(
    spoken.map(async (file): Promise<TranscriptFile> => {
      const path = join(folder, file)
      const meta = Meta.safeParse(await readPlain(path.replace(/\.jsonl$/, '.meta.json')))
      const agent = basename(file, '.jsonl').replace('agent-', '')
      const { agentType, description, toolUseId: callId, requestShape } = meta.data ?? {}
      // Older versions do not say which it is; ended with its turn it would be over while it works.
      const isBackground = requestShape === undefined || requestShape === 'background'
      return { path, agent, isBackground, ...told({ agentType, description, callId }) }
    }),
  )
}

async function entries(folder: string, recursive = false): Promise<readonly string[]> {
  try {
    return await readdir(folder, { recursive })
  } catch (error) {
    if (isFileError(error)) return []
    throw error
  }
}

const optional = <T extends z.ZodType>(type: T) => type.optional().catch(undefined)

/** What each running session writes of itself. */
const SessionFile = z.looseObject({
  pid: z.int().positive(),
  sessionId: z.string().min(1),
  cwd: z.string().min(1),
  procStart: optional(z.string()),
  name: optional(z.string().min(1)),
  status: optional(z.enum(['idle', 'busy', 'waiting'])),
  startedAt: optional(z.number()),
  updatedAt: optional(z.number()),
  statusUpdatedAt: optional(z.number()),
})

type SessionFile = z.infer<typeof SessionFile>

/** The sessions of Claude Code that run on this machine, by the files that they keep themselves. */
export async function findForeign(
  env: Conversation['env'],
  signal: AbortSignal,
): Promise<readonly ForeignSession[]> {
  const folder = join(configFolder(env), 'sessions')
  const found: ForeignSession[] = []
  for (const file of await entries(folder)) {
    signal.throwIfAborted()
    // Beside each is a file with a secret of the session's own, which is none of ours.
    if (!/^\d+\.json$/.test(file)) continue
    const read = SessionFile.safeParse(await readJson(join(folder, file)))
    if (read.success && (await isRunning(read.data))) found.push(await described(read.data, env))
  }
  return found
}

async function described(session: SessionFile, env: Conversation['env']): Promise<ForeignSession> {
  const { pid, sessionId: foreignId, cwd: workingDir, name, status, startedAt = 0 } = session
  const [main] = await findTranscripts({ workingDir, foreignId, env, startedAtMs: startedAt })
  const written = main && (await stat(main.path).catch(() => undefined))?.mtimeMs
  const times = [session.updatedAt, session.statusUpdatedAt, startedAt, written].filter(
    (time) => time !== undefined,
  )
  const last = Math.max(...times)
  return {
    cli: 'claude',
    foreignId,
    workingDir,
    pid,
    ...(main && { transcript: main.path }),
    ...(status && { status }),
    ...(name && { title: name }),
    ...(last > 0 && { lastActivityMs: Math.floor(last) }),
  }
}

/** A file outlives a session that was killed, and its number may be another program's by now. */
async function isRunning({ pid, procStart }: SessionFile): Promise<boolean> {
  if (!isAlive(pid)) return false
  const started = await startTicks(pid)
  return started === undefined || procStart === undefined || started === procStart
}

/** When a process started, in the kernel's own count; nothing where there is no /proc. */
async function startTicks(pid: number): Promise<string | undefined> {
  try {
    return parseStat(await readFile(`/proc/${pid}/stat`, 'utf8'))?.birth
  } catch (error) {
    if (isFileError(error)) return undefined
    throw error
  }
}

type Environment = Readonly<Record<string, string | undefined>>

/** Where Claude Code keeps its settings and conversations. */
export const configFolder = (env: Environment): string =>
  env['CLAUDE_CONFIG_DIR'] || join(env['HOME'] || homedir(), '.claude')

/** The folder of a project's conversations. */
export const projectFolder = (env: Environment, workingDir: string): string =>
  join(configFolder(env), projects, projectName(workingDir))

/** Where those of all projects are. */
export const projects = 'projects'

const longestName = 200

/** What the CLI calls it: the path with a dash for whatever is no letter or digit, shortened when it is long. */
export function projectName(workingDir: string): string {
  const name = workingDir.replaceAll(/[^A-Za-z0-9]/g, '-')
  if (name.length <= longestName) return name
  let hash = 0
  for (let i = 0; i < workingDir.length; i++) hash = ((hash << 5) - hash + workingDir.charCodeAt(i)) | 0
  return `${name.slice(0, longestName)}-${Math.abs(hash).toString(36)}`
}

/** A file of the CLI's as JSON; nothing when it is missing, unreadable or in the middle of being written. */
export async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    if (error instanceof SyntaxError || isFileError(error)) return undefined
    throw error
  }
}

/** The same of a file that an isolated session can write. */
async function readPlain(path: string): Promise<unknown> {
  const handle = await openPlain(path)
  if (!handle) return undefined
  try {
    return JSON.parse(await handle.readFile('utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  } finally {
    await handle.close()
  }
}

/** Whether a file or folder could not be had, for whatever reason of the system's. */
const isFileError = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && typeof (error as NodeJS.ErrnoException).code === 'string'
