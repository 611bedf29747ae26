import type * as z from 'zod'
import type { Signal } from '../../../contract/signal.ts'
import type { Tokens } from '../../../contract/values.ts'
import { failureOf } from './failure.ts'
import { present } from './present.ts'
import type { Block, Usage } from './transcript-line.ts'
import { blocksOf, type Line } from './user-line.ts'

/** Written by the CLI itself in the agent's place; no model was asked. */
const synthetic = '<synthetic>'
/** What it writes when a turn was broken off and there is nothing to say. */
const fillers = new Set(['No response requested.'])

/** What a line of the agent tells: words, tool calls, and what the response cost. */
export function assistantSignals(line: Line): readonly Signal[] {
  const { entry, base } = line
  if (entry.isApiErrorMessage) return [failed(line)]
  const isReal = entry.message?.model !== synthetic
  const said = blocksOf(entry).flatMap((block): Signal[] => {
    if (block.type === 'tool_use') return called(block, line)
    if (block.type !== 'text' || block.text === undefined || fillers.has(block.text)) return []
    return [{ ...base, kind: 'text', text: block.text, ...present({ messageId: entry.message?.id }) }]
  })
  return isReal ? [...said, ...used(line)] : said
}

function called({ id: callId, name: tool, input }: Block, { base, memory }: Line): Signal[] {
  if (callId === undefined || tool === undefined) return []
  memory.calls[callId] = { tool, at: base.at, ...present({ agentType: agentTypeIn(input) }) }
  return [{ ...base, kind: 'tool-start', callId, tool, ...present({ input }) }]
}

function agentTypeIn(input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null || !('subagent_type' in input)) return undefined
  return typeof input.subagent_type === 'string' ? input.subagent_type : undefined
}

/** Each line of a response repeats its usage; only what is new is told, and the last of a response is the whole. */
function used({ entry: { message }, base, memory }: Line): readonly Signal[] {
  if (!message?.id || !message.model || !message.usage) return []
  const { id: responseId, model, stop_reason: finishReason } = message
  const usage = tokensOf(message.usage)
  const told = JSON.stringify([responseId, usage, finishReason])
  if (memory.usage === told) return []
  memory.usage = told
  return [{ ...base, kind: 'usage', responseId, model, usage, ...present({ finishReason }) }]
}

function tokensOf(usage: NonNullable<Usage>): z.infer<typeof Tokens> {
  return present({
    input: count(usage.input_tokens),
    output: count(usage.output_tokens),
    cacheRead: count(usage.cache_read_input_tokens),
    cacheWrite: count(usage.cache_creation_input_tokens),
    reasoning: count(usage.output_tokens_details?.thinking_tokens),
  })
}

const count = (value: number | undefined): number | undefined =>
  value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : undefined

function failed({ entry, base }: Line): Signal {
  const resetsAt = entry.apiErrorParams?.rate_limit_info?.resetsAt ?? entry.quotaLimits?.resetsAt
  const failure = {
    code: entry.error,
    text: blocksOf(entry).find(({ type }) => type === 'text')?.text,
    status: entry.apiErrorStatus,
    resetsAtMs: resetsAt === undefined ? undefined : resetsAt * 1000,
  }
  return { ...base, kind: 'turn-failed', ...failureOf(failure, base.at) }
}
