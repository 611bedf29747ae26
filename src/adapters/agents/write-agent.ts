import { mkdir, realpath, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { stringify } from 'yaml'
import { AgentFrontmatter } from '../../contract/agent-definition.ts'
import { AppError } from '../../contract/errors.ts'

/** What is written: frontmatter in this order, and a prompt. */
type AgentText = {
  readonly name: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly prompt: string
}

/** A folder of agents; what is written there stays below `within`. */
type WritableFolder = { readonly dir: string; readonly within?: string | undefined }

/** Writes a new agent file, with every field explained; one that is there already is never touched. */
export async function writeAgent(agent: AgentText, { dir, within }: WritableFolder): Promise<string> {
  await mkdir(dir, { recursive: true })
  if (within !== undefined && relative(await realpath(within), await realpath(dir)).startsWith('..'))
    throw new AppError('denied', `${dir} is a link that leaves the project; write to your own folder: --user`)
  const file = join(dir, `${agent.name}.md`)
  try {
    await writeFile(file, agentText(agent), { flag: 'wx' })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    throw new AppError('conflict', `${file} is there already; see what is wrong with it: sm agents check`)
  }
  return file
}

function agentText({ fields, prompt }: AgentText): string {
  const lines = Object.entries(fields).map(([key, value]) => {
    const about = (AgentFrontmatter.shape as Record<string, { description?: string | undefined }>)[key]
    const text = stringify(value, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: false })
    return `# ${about?.description ?? ''}\n${key}: ${text}`
  })
  return `---\n${lines.join('')}---\n\n${prompt}\n`
}
