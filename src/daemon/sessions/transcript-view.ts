import type { AgentCliName } from '../../contract/config/names.ts'
import type { Signal } from '../../contract/signal.ts'
import type { Parts } from '../../engine/sessions/parts.ts'

type Entry = { readonly at: string; readonly who: string; readonly text: string }

const tailBytes = 512 * 1024
const mostChars = 4000

/** The end of a conversation as lines of text, for a session that has no terminal of ours. */
export const linesOf = (entries: readonly Entry[], most: number): string[] =>
  entries.flatMap(({ who, text }) => `${who}: ${text}`.split('\n')).slice(-most)

/** The end of a conversation as its CLI wrote it: prompts, answers and tools. */
export async function transcriptOf(
  parts: Pick<Parts, 'clis' | 'files'>,
  { cli, path, limit }: { cli: AgentCliName; path: string | undefined; limit: number },
): Promise<{ path: string | null; entries: Entry[] }> {
  if (path === undefined) return { path: null, entries: [] }
  const { dialect } = parts.clis[cli]
  const whole = await parts.files.read(path, 0, 1)
  const from = Math.max(0, (whole?.size ?? 0) - tailBytes)
  const read = await parts.files.read(path, from, tailBytes)
  const memory = {}
  // The first line of a tail may be cut; a dialect passes over what it cannot read.
  const signals = (read?.lines ?? []).flatMap(({ text }) => dialect.line(text, { memory }))
  const entries = signals.map(entryOf).filter((entry) => entry !== undefined)
  return { path, entries: entries.slice(-limit) }
}

function entryOf(signal: Signal): Entry | undefined {
  const at = new Date(signal.at).toISOString()
  const entry = (who: string, text: string): Entry => ({ at, who, text: text.slice(0, mostChars) })
  switch (signal.kind) {
    case 'prompt':
      return entry(signal.origin === 'task' ? 'task' : 'user', signal.text ?? '')
    case 'text':
      return entry('agent', signal.text)
    case 'tool-start':
      return entry('tool', `${signal.tool} ${JSON.stringify(signal.input ?? {})}`)
    case 'tool-end':
      return signal.ok ? undefined : entry('tool', `failed: ${signal.error ?? 'no reason given'}`)
    default:
      return undefined
  }
}
