import { promises as fs } from 'node:fs'
import { join } from 'node:path'
import { type Foreign, foreign, foreignLine, foreignText } from '../../contract/formats/foreign-json.ts'
import type { Conversation, ForeignSession, TranscriptFile } from '../../ports/agent-cli.ts'
import { missing, namesIn, openPlain, recordIn } from '../system/foreign-files.ts'

/** Finds the rollout files of a conversation and its subagents; heads never change and are read once. */
export function codexTranscripts(): (conversation: Conversation) => Promise<readonly TranscriptFile[]> {
  const heads = new Map<string, RolloutHead>()
  const headOf = async (path: string): Promise<RolloutHead | undefined> => {
    const known = heads.get(path) ?? (await rolloutHead(path))
    if (known) heads.set(path, known)
    return known
  }
  return async ({ foreignId, transcript, env, startedAtMs }) => {
    const home = codexHome(env)
    const recent = await rolloutsSince(home, startedAtMs)
    const isTold = foreignId !== undefined && transcript?.endsWith(`-${foreignId}.jsonl`)
    const found = isTold ? transcript : await ownFile(home, foreignId, recent)
    const own = found && (await recordIn(join(home, 'sessions'), found))
    if (own === undefined) return []
    const root = (await headOf(own))?.id ?? foreignId
    const agents: TranscriptFile[] = []
    for (const path of recent) {
      const head = path === own ? undefined : await headOf(path)
      if (head?.isSubagent && head.root === root)
        agents.push({ path, agent: head.id, agentType: head.agentType })
    }
    return [{ path: own }, ...agents.toReversed()]
  }
}

/**
 * Codex chooses the id of a conversation itself, and may not have been able to tell it: then whatever was begun in
 * the same folder since may be it.
 */
export async function codexMayHaveRun(conversation: Conversation): Promise<boolean> {
  const { foreignId, transcript, env, startedAtMs, workingDir } = conversation
  if (transcript !== undefined || foreignId !== undefined) return true
  for (const path of await rolloutsSince(codexHome(env), startedAtMs)) {
    const [head, { mtimeMs }] = await Promise.all([rolloutHead(path), fs.stat(path)])
    if (mtimeMs >= startedAtMs && (head?.cwd === undefined || head.cwd === workingDir)) return true
  }
  return false
}

/** A resumed conversation continues in the file of the day it began. */
async function ownFile(
  home: string,
  foreignId: string | undefined,
  recent: readonly string[],
): Promise<string | undefined> {
  if (foreignId === undefined) return undefined
  const isOwn = (path: string) => path.endsWith(`-${foreignId}.jsonl`)
  return recent.find(isOwn) ?? (await rolloutsSince(home)).find(isOwn)
}

/**
 * Conversations that a running Codex writes to: it holds a lock on a file of each, which the system frees when the
 * process dies. Only Linux tells who holds a lock; elsewhere none are found.
 */
export async function codexForeign(
  env: Readonly<Record<string, string>>,
  locksFile = '/proc/locks',
): Promise<readonly ForeignSession[]> {
  const home = codexHome(env)
  const holders = holdersIn((await fs.readFile(locksFile, 'utf8').catch(missing)) ?? '')
  if (holders.size === 0) return []
  const live = await lockedThreads(join(home, 'thread-writer-locks'), holders)
  if (live.size === 0) return []
  const [files, titles] = [await rolloutsSince(home), await titlesIn(home)]
  const found: ForeignSession[] = []
  const unwritten: [string, number][] = []
  for (const [id, pid] of live) {
    const transcript = files.find((path) => path.endsWith(`-${id}.jsonl`))
    if (transcript === undefined) unwritten.push([id, pid])
    const head = transcript === undefined ? undefined : await rolloutHead(transcript)
    if (transcript === undefined || head?.cwd === undefined || head.isSubagent) continue
    const title = titles.get(id)
    found.push({
      cli: 'codex',
      foreignId: id,
      workingDir: head.cwd,
      transcript,
      pid,
      lastActivityMs: (await fs.stat(transcript)).mtimeMs,
      ...(title !== undefined && { title }),
    })
  }
  return [...found, ...(await begun(unwritten, found))]
}

/** A conversation has no file before its first prompt; one of a process that has another may be a subagent's. */
async function begun(
  unwritten: readonly (readonly [string, number])[],
  found: readonly ForeignSession[],
): Promise<readonly ForeignSession[]> {
  const begun: ForeignSession[] = []
  for (const [foreignId, pid] of unwritten) {
    if ([...found, ...begun].some((one) => one.pid === pid)) continue
    const workingDir = await fs.readlink(`/proc/${pid}/cwd`).catch(() => undefined)
    if (workingDir !== undefined) begun.push({ cli: 'codex', foreignId, workingDir, pid, status: 'idle' })
  }
  return begun
}

/** Who holds which inode, from the system's table of locks. */
function holdersIn(table: string): ReadonlyMap<string, number> {
  const lock = /^\d+: FLOCK\s+ADVISORY\s+WRITE (\d+) [0-9a-f]+:[0-9a-f]+:(\d+) /gm
  return new Map([...table.matchAll(lock)].map(([, pid, inode]) => [inode ?? '', Number(pid)]))
}

async function lockedThreads(
  folder: string,
  holders: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, number>> {
  const live = new Map<string, number>()
  for (const name of await namesIn(folder)) {
    if (!/^[0-9a-f-]{36}\.lock$/.test(name)) continue
    const inode = (await fs.stat(join(folder, name)).catch(missing))?.ino
    const pid = inode === undefined ? undefined : holders.get(String(inode))
    if (pid !== undefined) live.set(name.slice(0, -'.lock'.length), pid)
  }
  return live
}

async function titlesIn(home: string): Promise<ReadonlyMap<string, string>> {
  const text = (await fs.readFile(join(home, 'session_index.jsonl'), 'utf8').catch(missing)) ?? ''
  const titles = new Map<string, string>()
  for (const line of text.split('\n')) {
    const entry = foreignLine(line)
    const [id, title] = [foreignText(entry?.['id']), foreignText(entry?.['thread_name'])]
    if (id !== undefined && title !== undefined) titles.set(id, title)
  }
  return titles
}

/** What the first line of a rollout file says. */
type RolloutHead = {
  readonly id: string
  /** The conversation that a subagent's belongs to; its own id otherwise. */
  readonly root: string
  readonly isSubagent: boolean
  readonly agentType: string
  readonly cwd?: string
}

/** Where Codex keeps its files. */
const codexHome = (env: Readonly<Record<string, string | undefined>>): string =>
  env['CODEX_HOME'] || join(env['HOME'] ?? '/', '.codex')

/** The rollout files of the days since a time, the newest day first; without a time those of all days. */
async function rolloutsSince(home: string, sinceMs?: number): Promise<readonly string[]> {
  const root = await fs.realpath(join(home, 'sessions')).catch(missing)
  if (root === undefined) return []
  // The folders are named by local time, which may be a day away from any other.
  const first = sinceMs === undefined ? '' : new Date(sinceMs - 86_400_000).toISOString().slice(0, 10)
  const files: string[] = []
  for (const year of await names(root))
    for (const month of await names(join(root, year)))
      for (const day of await names(join(root, year, month)))
        if (`${year}-${month}-${day}` >= first)
          for (const name of await names(join(root, year, month, day)))
            if (name.startsWith('rollout-') && name.endsWith('.jsonl'))
              files.push(join(root, year, month, day, name))
  return files.toReversed()
}

/** The head of a rollout file; nothing while its first line is not whole. */
async function rolloutHead(path: string): Promise<RolloutHead | undefined> {
  const payload = foreign((await firstLine(path))?.['payload'])
  const id = foreignText(payload['id'])
  if (id === undefined) return undefined
  const parent = foreignText(payload['parent_thread_id'])
  const cwd = foreignText(payload['cwd'])
  return {
    id,
    root: foreignText(payload['session_id']) ?? parent ?? id,
    isSubagent: parent !== undefined,
    agentType: foreignText(payload['agent_role']) ?? 'default',
    ...(cwd !== undefined && { cwd }),
  }
}

/** The first line has the whole instructions of the model in it. */
const longest = 1 << 20

async function firstLine(path: string): Promise<Foreign | undefined> {
  const handle = await openPlain(path)
  if (!handle) return undefined
  try {
    for (let size = 1 << 16; size <= longest; size *= 4) {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(size), 0, size, 0)
      const end = buffer.subarray(0, bytesRead).indexOf(10)
      if (end >= 0) return foreign(JSON.parse(buffer.toString('utf8', 0, end)))
      if (bytesRead < size) return undefined
    }
    return undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  } finally {
    await handle.close()
  }
}

const names = async (folder: string): Promise<readonly string[]> => (await namesIn(folder)).toSorted()
