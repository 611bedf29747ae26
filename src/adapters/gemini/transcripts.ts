import { promises as fs } from 'node:fs'
import { join } from 'node:path'
import type { Conversation, TranscriptFile } from '../../ports/agent-cli.ts'
import { geminiHome } from './shadow-home.ts'

/** The chat file of a conversation, and its subagents' in a folder named by its id beside it. */
export async function geminiTranscripts(conversation: Conversation): Promise<readonly TranscriptFile[]> {
  const { foreignId, transcript, env } = conversation
  const own = transcript ?? (await ownFile(geminiHome(env), foreignId))
  // The way that Gemini tells leads through the session's own folder, which does not outlive the session.
  const path = own && (await fs.realpath(own).catch(missing))
  if (!path) return []
  if (foreignId === undefined) return [{ path }]
  const folder = join(path, '..', foreignId)
  const names = ((await fs.readdir(folder).catch(missing)) ?? []).filter((name) => name.endsWith('.jsonl'))
  const agents = names.toSorted().map((name) => {
    const agent = name.slice(0, -'.jsonl'.length)
    return { path: join(folder, name), agent, agentType: 'subagent' }
  })
  return [{ path }, ...agents]
}

async function ownFile(home: string, foreignId: string | undefined): Promise<string | undefined> {
  if (foreignId === undefined) return undefined
  const end = `-${foreignId.slice(0, 8)}.jsonl`
  for (const project of (await fs.readdir(join(home, 'tmp')).catch(missing)) ?? []) {
    const chats = join(home, 'tmp', project, 'chats')
    for (const name of ((await fs.readdir(chats).catch(missing)) ?? []).toReversed())
      if (name.startsWith('session-') && name.endsWith(end) && (await isOf(join(chats, name), foreignId)))
        return join(chats, name)
  }
  return undefined
}

/** The name has only the first part of the id in it; the first line has all of it. */
async function isOf(path: string, foreignId: string): Promise<boolean> {
  const handle = await fs.open(path)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4096), 0, 4096, 0)
    return buffer.toString('utf8', 0, bytesRead).includes(`"sessionId":"${foreignId}"`)
  } finally {
    await handle.close()
  }
}

function missing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
  throw error
}
