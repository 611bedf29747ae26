import { promises as fs } from 'node:fs'
import { join } from 'node:path'
import type { Conversation, TranscriptFile } from '../../ports/agent-cli.ts'

/** The session file of a conversation; its name ends with the id. */
export async function piTranscripts(conversation: Conversation): Promise<readonly TranscriptFile[]> {
  const { foreignId, transcript, env } = conversation
  if (transcript !== undefined) return (await isThere(transcript)) ? [{ path: transcript }] : []
  if (foreignId === undefined) return []
  const home = env['PI_CODING_AGENT_DIR'] || join(env['HOME'] ?? '/', '.pi', 'agent')
  const root = env['PI_CODING_AGENT_SESSION_DIR'] || join(home, 'sessions')
  for (const folder of [root, ...(await names(root)).map((name) => join(root, name))])
    for (const name of await names(folder))
      if (name.endsWith(`_${foreignId}.jsonl`)) return [{ path: join(folder, name) }]
  return []
}

/** pi writes the file with the first answer, not when it tells its name. */
const isThere = (path: string): Promise<boolean> =>
  fs.access(path).then(
    () => true,
    () => false,
  )

const names = (folder: string): Promise<string[]> =>
  fs.readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw error
  })
