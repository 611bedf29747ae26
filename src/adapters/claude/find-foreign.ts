import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import type { ForeignSession } from '../../ports/agent-cli.ts'
import { configFolder } from './config-folder.ts'
import { findTranscripts } from './find-transcripts.ts'
import { isFileError, readJson } from './read-json.ts'

type Environment = Readonly<Record<string, string>>

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
export async function findForeign(env: Environment, signal: AbortSignal): Promise<readonly ForeignSession[]> {
  const folder = join(configFolder(env), 'sessions')
  const found: ForeignSession[] = []
  for (const file of await names(folder)) {
    signal.throwIfAborted()
    // Beside each is a file with a secret of the session's own, which is none of ours.
    if (!/^\d+\.json$/.test(file)) continue
    const read = SessionFile.safeParse(await readJson(join(folder, file)))
    if (read.success && (await isRunning(read.data))) found.push(await described(read.data, env))
  }
  return found
}

async function described(session: SessionFile, env: Environment): Promise<ForeignSession> {
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
  try {
    process.kill(pid, 0)
  } catch (error) {
    // A process of somebody else's is alive, but the file is in a folder of ours.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  const started = await startTicks(pid)
  return started === undefined || procStart === undefined || started === procStart
}

/** When a process started, in the kernel's own count; nothing where there is no /proc. */
async function startTicks(pid: number): Promise<string | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8')
    // The name may hold blanks and parentheses; the fields after it cannot.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19]
  } catch (error) {
    if (isFileError(error)) return undefined
    throw error
  }
}

async function names(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (isFileError(error)) return []
    throw error
  }
}
