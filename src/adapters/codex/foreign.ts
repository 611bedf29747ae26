import { promises as fs } from 'node:fs'
import { join } from 'node:path'
import { foreignLine, foreignText } from '../../contract/formats/foreign-json.ts'
import type { ForeignSession } from '../../ports/agent-cli.ts'
import { codexHome, missing, rolloutHead, rolloutsSince } from './rollouts.ts'

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
  for (const name of (await fs.readdir(folder).catch(missing)) ?? []) {
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
