import { promises as fs } from 'node:fs'
import type { Conversation, TranscriptFile } from '../../ports/agent-cli.ts'
import { codexHome, type RolloutHead, rolloutHead, rolloutsSince } from './rollouts.ts'

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
    const own = transcript ?? (await ownFile(home, foreignId, recent))
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

/** A resumed conversation goes on in the file of the day on which it began. */
async function ownFile(
  home: string,
  foreignId: string | undefined,
  recent: readonly string[],
): Promise<string | undefined> {
  if (foreignId === undefined) return undefined
  const isOwn = (path: string) => path.endsWith(`-${foreignId}.jsonl`)
  return recent.find(isOwn) ?? (await rolloutsSince(home)).find(isOwn)
}
