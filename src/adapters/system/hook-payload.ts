import type { Foreign } from '../../contract/formats/foreign-json.ts'
import type { HookReply } from '../../ports/agent-cli.ts'

/** Who asked for a compaction, as our own plugins tell it. */
export function compactionOf({ trigger }: Foreign): { readonly trigger?: 'auto' | 'manual' } {
  return trigger === 'auto' || trigger === 'manual' ? { trigger } : {}
}

/** An answer that a hook or plugin reads as JSON. */
export const jsonReply = (value: unknown): HookReply => ({ body: JSON.stringify(value), exitCode: 0 })

/** The answer that changes nothing. */
export const emptyReply: HookReply = { body: '', exitCode: 0 }

/** A CLI's own tool under the name that agent files are written with; one that is not in the table keeps its name. */
export const toolNamed = (names: Readonly<Record<string, string>>, tool: string): string =>
  Object.hasOwn(names, tool) ? (names[tool] ?? tool) : tool
