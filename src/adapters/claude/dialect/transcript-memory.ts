import type { TranscriptMemory } from '../../../ports/agent-cli.ts'

/** A tool call that has no result yet. */
export type OpenCall = { readonly tool: string; readonly at: number; readonly agentType?: string }

/** What lines refer back to: open calls by their id, subagents that were started, the usage told last. */
export type Remembered = {
  readonly calls: Record<string, OpenCall>
  readonly agents: Record<string, string>
  usage: string
}

/** The memory of one file, made on its first line. */
export function remembered(memory: TranscriptMemory): Remembered {
  const known = memory['claude']
  if (isRemembered(known)) return known
  const made: Remembered = { calls: {}, agents: {}, usage: '' }
  memory['claude'] = made
  return made
}

const isRemembered = (value: unknown): value is Remembered =>
  typeof value === 'object' && value !== null && 'calls' in value && 'agents' in value && 'usage' in value
