import type * as z from 'zod'
import { foreignJson, told } from '../../contract/formats/foreign-json.ts'
import type { Signal } from '../../contract/signal.ts'
import type { Tokens } from '../../contract/values.ts'
import type { TranscriptContext, TranscriptMemory } from '../../ports/agent-cli.ts'
import { failureOf } from './claude-failure.ts'
import {
  type Block,
  compactionTrigger,
  isTaskNotification,
  ModelUsage,
  TranscriptLine,
  type Usage,
} from './claude-shapes.ts'

/** What one line of a conversation's file tells. */
export function transcriptSignals(text: string, context: TranscriptContext): readonly Signal[] {
  const entry = TranscriptLine.safeParse(foreignJson(text)).data
  if (!entry) return []
  const isFirst = !isRemembered(context.memory['claude'])
  const memory = remembered(context.memory)
  // The line with the totals has no time of its own.
  const at = entry.timestamp === undefined ? memory.at : Date.parse(entry.timestamp)
  if (at === undefined || Number.isNaN(at)) return []
  memory.at = at
  const agent = context.agent ?? (entry.isSidechain ? (entry.agentId ?? 'sidechain') : undefined)
  const line: Line = { entry, base: { source: 'transcript', at, ...told({ agent }) }, memory }
  return [...(isFirst ? begun(context, at) : []), ...(readers[entry.type]?.(line) ?? [])]
}

/** The record of a subagent begins with it; that of its session tells of it only when it has answered. */
function begun({ agent: agentId, subagent = {} }: TranscriptContext, at: number): readonly Signal[] {
  if (agentId === undefined) return []
  const { agentType = 'subagent', ...more } = subagent
  return [{ source: 'transcript', at, kind: 'subagent-start', agentId, agentType, ...more }]
}

const readers: Readonly<Partial<Record<string, (line: Line) => readonly Signal[]>>> = {
  user: userSignals,
  assistant: assistantSignals,
  system: systemSignals,
  'queue-operation': queued,
  attachment: attached,
  'cost-state': totals,
}

/** Written when a conversation is left: only here the CLI tells what its own calls used, a compaction's above all. */
function totals({ entry: { sessionId: foreignId, modelUsage = {} }, base }: Line): readonly Signal[] {
  const models = Object.entries(modelUsage).flatMap(([model, figures]) => {
    const used = ModelUsage.safeParse(figures).data
    if (!used) return []
    const usage = told({
      input: count(used.inputTokens),
      output: count(used.outputTokens),
      cacheRead: count(used.cacheReadInputTokens),
      cacheWrite: count(used.cacheCreationInputTokens),
      reasoning: count(used.thinkingTokens),
    })
    return [[model, usage] as const]
  })
  return foreignId === undefined || models.length === 0
    ? []
    : [{ ...base, kind: 'totals', foreignId, models: Object.fromEntries(models) }]
}

function attached(line: Line): readonly Signal[] {
  const { type, prompt = '', content } = line.entry.attachment ?? {}
  // A prompt that a running turn takes from the queue leaves no separate line.
  if (type === 'queued_command') return backgroundEnd(prompt, line)
  if (type !== 'hook_additional_context' || !Array.isArray(content)) return []
  const texts = content.filter((text) => typeof text === 'string')
  return texts.map((text) => ({ ...line.base, kind: 'injected', text }))
}

function systemSignals({ entry, base }: Line): readonly Signal[] {
  // There was nothing to compact, or it failed: the hook that told its beginning tells no end.
  if (entry.subtype === 'local_command' && /<local-command-std\w+>.*compact/i.test(String(entry.content)))
    return [{ ...base, kind: 'idle' }]
  if (entry.subtype !== 'compact_boundary') return []
  const { trigger: word, preTokens: before, postTokens: after } = entry.compactMetadata ?? {}
  return [{ ...base, kind: 'compacted', ...told({ trigger: compactionTrigger(word), before, after }) }]
}

function queued({ entry, base }: Line): readonly Signal[] {
  const { operation, content } = entry
  if (operation !== 'enqueue' || typeof content !== 'string' || isTaskNotification(content)) return []
  return [{ ...base, kind: 'prompt-queued', text: content }]
}

/** A line on its way to signals. */
type Line = {
  readonly entry: TranscriptLine
  readonly base: { readonly source: 'transcript'; readonly at: number; readonly agent?: string }
  readonly memory: Remembered
}

/** The blocks of a line's message; a bare text is one of them. */
function blocksOf({ message }: TranscriptLine): readonly Block[] {
  const content = message?.content ?? []
  return typeof content === 'string' ? [{ type: 'text', text: content } as Block] : content
}

const interrupted = '[Request interrupted by user'
/** What a hook said that kept a turn from ending. */
const stopFeedback = 'Stop hook feedback:\n'

/** What a line in the user's place tells: prompts, results of tools, an interrupt; the CLI's own remarks are none. */
function userSignals(line: Line): readonly Signal[] {
  const { entry, base } = line
  const blocks = blocksOf(entry)
  const results = blocks.flatMap((block) => (block.type === 'tool_result' ? ended(block, line) : []))
  const text = blocks
    .flatMap((block) => (block.type === 'text' && block.text !== undefined ? [block.text] : []))
    .join('\n')
  if (entry.interruptedMessageId !== undefined || text.startsWith(interrupted))
    return [...results, { ...base, kind: 'interrupted' }]
  if (entry.isMeta && text.startsWith(stopFeedback))
    return [...results, { ...base, kind: 'injected', text: text.slice(stopFeedback.length) }]
  if (results.length > 0 || entry.isMeta || entry.isCompactSummary) return results
  return [...backgroundEnd(text, line), ...prompted(text, line)]
}

/** The end of a subagent that worked in the background, when the text is the note that tells it. */
function backgroundEnd(text: string, { base, memory }: Line): readonly Signal[] {
  const note = taskNotification(text)
  const agentType = note && memory.agents[note.taskId]
  // Shells in the background have such notes too.
  if (!note || agentType === undefined) return []
  const how = endsBadly[note.status ?? '']
  return [
    { ...base, kind: 'subagent-end', agentId: note.taskId, agentType, ...told({ text: note.result, how }) },
  ]
}

/** What the note calls an end that is none of its own. */
const endsBadly: Readonly<Partial<Record<string, 'failed' | 'cancelled'>>> = {
  failed: 'failed',
  killed: 'cancelled',
  stopped: 'cancelled',
  cancelled: 'cancelled',
}

function prompted(written: string, { entry, base }: Line): readonly Signal[] {
  const text = asTyped(written)
  if (text === '') return []
  const kind = entry.origin?.kind
  const isOfTask =
    isTaskNotification(text) || base.agent !== undefined || (kind !== undefined && kind !== 'human')
  return [
    {
      ...base,
      kind: 'prompt',
      text,
      origin: isOfTask ? 'task' : 'person',
      ...told({ promptId: entry.promptId }),
    },
  ]
}

/** A prompt as it was typed; empty for what began no turn, like the output of a command. */
function asTyped(written: string): string {
  const shell = /^<bash-input>([\s\S]*)<\/bash-input>$/.exec(written.trim())?.[1]
  if (shell !== undefined) return `!${shell}`
  const command = /^<command-message>[\s\S]*?<command-name>([\s\S]*?)<\/command-name>/.exec(written)?.[1]
  if (command !== undefined) {
    const args = /<command-args>([\s\S]*?)<\/command-args>/.exec(written)?.[1] ?? ''
    return `${command} ${args}`.trim()
  }
  return /^\s*<(local-command-|command-name>|bash-)/.test(written) ? '' : written
}

function ended(block: Block, line: Line): readonly Signal[] {
  const { base, memory } = line
  const { tool_use_id: callId, content } = block
  if (callId === undefined) return []
  const call = memory.calls[callId]
  delete memory.calls[callId]
  const isError = block.is_error === true
  const words = flat(content)
  return [
    {
      ...base,
      kind: 'tool-end',
      callId,
      ok: !isError,
      ...told({
        tool: call?.tool,
        output: isError ? undefined : words,
        error: isError ? words : undefined,
      }),
    },
    ...subagents(line, { callId, ...told({ startedAt: call?.at, agentType: call?.agentType }) }),
  ]
}

type AgentCall = { readonly callId: string; readonly startedAt?: number; readonly agentType?: string }

/** The result of the tool that starts a subagent: it was sent to the background, or is done. */
function subagents({ entry, base, memory }: Line, call: AgentCall): readonly Signal[] {
  const result = entry.toolUseResult
  const agentId = result?.agentId
  const agentType = result?.agentType ?? call.agentType
  if (agentId === undefined || agentType === undefined) return []
  const start: Signal = {
    ...base,
    at: call.startedAt ?? base.at,
    kind: 'subagent-start',
    agentId,
    agentType,
    callId: call.callId,
    ...told({ description: result?.description }),
  }
  memory.agents[agentId] = agentType
  if (result?.status === 'async_launched') return [{ ...start, isBackground: true }]
  const text = flat(result?.content)
  return [start, { ...base, kind: 'subagent-end', agentId, agentType, ...told({ text }) }]
}

/** The words of a result that may be a text or blocks of it. */
function flat(content: unknown): string | undefined {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return undefined
  const words = content.flatMap((block: unknown) =>
    typeof block === 'object' && block !== null && 'text' in block && typeof block.text === 'string'
      ? [block.text]
      : [],
  )
  return words.length === 0 ? undefined : words.join('\n')
}

/** Written by the CLI itself in the agent's place; no model was asked. */
const synthetic = '<synthetic>'
/** What it writes when a turn was broken off and there is nothing to say. */
const fillers = new Set(['No response requested.'])

/** What a line of the agent tells: words, tool calls, and what the response cost. */
function assistantSignals(line: Line): readonly Signal[] {
  const { entry, base } = line
  if (entry.isApiErrorMessage) return [failed(line)]
  const isReal = entry.message?.model !== synthetic
  const said = blocksOf(entry).flatMap((block): Signal[] => {
    if (block.type === 'tool_use') return called(block, line)
    if (block.type !== 'text' || block.text === undefined || fillers.has(block.text)) return []
    return [{ ...base, kind: 'text', text: block.text, ...told({ messageId: entry.message?.id }) }]
  })
  return isReal ? [...said, ...used(line)] : said
}

function called({ id: callId, name: tool, input }: Block, { base, memory }: Line): Signal[] {
  if (callId === undefined || tool === undefined) return []
  memory.calls[callId] = { tool, at: base.at, ...told({ agentType: agentTypeIn(input) }) }
  return [{ ...base, kind: 'tool-start', callId, tool, ...told({ input }) }]
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
  const figures = JSON.stringify([responseId, usage, finishReason])
  if (memory.usage === figures) return []
  memory.usage = figures
  return [{ ...base, kind: 'usage', responseId, model, usage, ...told({ finishReason }) }]
}

function tokensOf(usage: NonNullable<Usage>): z.infer<typeof Tokens> {
  return told({
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

/** A note of the CLI to itself that something in the background has ended. */
type TaskNotification = { readonly taskId: string; readonly status?: string; readonly result?: string }

/** Reads the note; nothing when the text is none. */
function taskNotification(prompt: string): TaskNotification | undefined {
  const taskId = isTaskNotification(prompt) ? tagIn(prompt, 'task-id') : undefined
  if (taskId === undefined) return undefined
  const [status, result] = [tagIn(prompt, 'status'), tagIn(prompt, 'result')]
  return { taskId, ...(status !== undefined && { status }), ...(result !== undefined && { result }) }
}

function tagIn(text: string, tag: string): string | undefined {
  const start = text.indexOf(`<${tag}>`)
  // The result is a text of the agent's own and may hold anything, its closing tag too.
  const end = text.lastIndexOf(`</${tag}>`)
  return start < 0 || end < start ? undefined : text.slice(start + tag.length + 2, end)
}

/** A tool call that has no result yet. */
type OpenCall = { readonly tool: string; readonly at: number; readonly agentType?: string }

/** What lines refer back to: open calls by their id, subagents that were started, the usage told last. */
type Remembered = {
  readonly calls: Record<string, OpenCall>
  readonly agents: Record<string, string>
  usage: string
  /** When the last line was written that says so. */
  at: number | undefined
}

/** The memory of one file, made on its first line. */
function remembered(memory: TranscriptMemory): Remembered {
  const known = memory['claude']
  if (isRemembered(known)) return known
  const made: Remembered = { calls: {}, agents: {}, usage: '', at: undefined }
  memory['claude'] = made
  return made
}

const isRemembered = (value: unknown): value is Remembered =>
  typeof value === 'object' && value !== null && 'calls' in value && 'agents' in value && 'usage' in value
