import { access, readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import * as z from 'zod'
import type { Conversation, TranscriptFile } from '../../ports/agent-cli.ts'
import { configFolder, projectFolder } from './config-folder.ts'
import { isFileError, readJson } from './read-json.ts'

/** The file of a conversation and those of its subagents, as far as they are there. */
export async function findTranscripts(conversation: Conversation): Promise<readonly TranscriptFile[]> {
  const main = await findMain(conversation)
  return main === undefined ? [] : [{ path: main }, ...(await findSubagents(main))]
}

/** The path of one conversation: as it was told, where the rule puts it, or wherever a file has its id. */
async function findMain({
  transcript,
  foreignId,
  workingDir,
  env,
}: Conversation): Promise<string | undefined> {
  if (transcript !== undefined) return (await isThere(transcript)) ? transcript : undefined
  if (foreignId === undefined) return undefined
  const file = `${foreignId}.jsonl`
  const usual = join(projectFolder(env, workingDir), file)
  if (await isThere(usual)) return usual
  // The CLI resolves links and shortens long paths before it names the folder.
  const projects = join(configFolder(env), 'projects')
  for (const folder of await entries(projects)) {
    const path = join(projects, folder, file)
    if (await isThere(path)) return path
  }
  return undefined
}

const Meta = z.looseObject({ agentType: z.string().min(1).optional().catch(undefined) })

async function findSubagents(main: string): Promise<readonly TranscriptFile[]> {
  const folder = join(dirname(main), basename(main, '.jsonl'), 'subagents')
  const files = await entries(folder, true)
  // After a clear only the descriptions are copied to the new conversation; what was said is in the old one.
  const spoken = files.filter((file) => /^agent-.+\.jsonl$/.test(basename(file))).toSorted()
  return Promise.all(
    spoken.map(async (file): Promise<TranscriptFile> => {
      const path = join(folder, file)
      const meta = Meta.safeParse(await readJson(path.replace(/\.jsonl$/, '.meta.json')))
      const agent = basename(file, '.jsonl').replace('agent-', '')
      return { path, agent, ...(meta.data?.agentType && { agentType: meta.data.agentType }) }
    }),
  )
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

async function entries(folder: string, recursive = false): Promise<readonly string[]> {
  try {
    return await readdir(folder, { recursive })
  } catch (error) {
    if (isFileError(error)) return []
    throw error
  }
}
