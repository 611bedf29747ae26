import { promises as fs } from 'node:fs'
import { join } from 'node:path'
import { type Foreign, foreign, foreignText } from '../../contract/formats/foreign-json.ts'

/** What the first line of a rollout file says. */
export type RolloutHead = {
  readonly id: string
  /** The conversation that a subagent's belongs to; its own id otherwise. */
  readonly root: string
  readonly isSubagent: boolean
  readonly agentType: string
  readonly cwd?: string
}

/** Where Codex keeps its files. */
export const codexHome = (env: Readonly<Record<string, string | undefined>>): string =>
  env['CODEX_HOME'] || join(env['HOME'] ?? '/', '.codex')

/** The rollout files of the days since a time, the newest day first; without a time those of all days. */
export async function rolloutsSince(home: string, sinceMs?: number): Promise<readonly string[]> {
  const root = join(home, 'sessions')
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
export async function rolloutHead(path: string): Promise<RolloutHead | undefined> {
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
  const handle = await fs.open(path).catch(missing)
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

const names = async (folder: string): Promise<readonly string[]> =>
  ((await fs.readdir(folder).catch(missing)) ?? []).toSorted()

/** A folder that is not there, or went away meanwhile, has nothing in it. */
export function missing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
  throw error
}
