import type { Signal } from '../../../contract/signal.ts'
import { present } from './present.ts'
import { isTaskNotification, taskNotification } from './task-notification.ts'
import type { Block, TranscriptLine } from './transcript-line.ts'
import type { Remembered } from './transcript-memory.ts'

/** A line on its way to signals. */
export type Line = {
  readonly entry: TranscriptLine
  readonly base: { readonly source: 'transcript'; readonly at: number; readonly agent?: string }
  readonly memory: Remembered
}

/** The blocks of a line's message; a bare text is one of them. */
export function blocksOf({ message }: TranscriptLine): readonly Block[] {
  const content = message?.content ?? []
  return typeof content === 'string' ? [{ type: 'text', text: content } as Block] : content
}

const interrupted = '[Request interrupted by user'
/** What a hook said that kept a turn from ending. */
const stopFeedback = 'Stop hook feedback:\n'

/** What a line in the user's place tells: prompts, results of tools, an interrupt; the CLI's own remarks are none. */
export function userSignals(line: Line): readonly Signal[] {
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
export function backgroundEnd(text: string, { base, memory }: Line): readonly Signal[] {
  const note = taskNotification(text)
  const agentType = note && memory.agents[note.taskId]
  // Shells in the background have such notes too.
  if (!note || agentType === undefined) return []
  return [
    { ...base, kind: 'subagent-end', agentId: note.taskId, agentType, ...present({ text: note.result }) },
  ]
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
      ...present({ promptId: entry.promptId }),
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
      ...present({
        tool: call?.tool,
        output: isError ? undefined : words,
        error: isError ? words : undefined,
      }),
    },
    ...subagents(line, { callId, ...present({ startedAt: call?.at, agentType: call?.agentType }) }),
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
    ...present({ description: result?.description }),
  }
  memory.agents[agentId] = agentType
  if (result?.status === 'async_launched') return [{ ...start, isBackground: true }]
  const text = flat(result?.content)
  return [start, { ...base, kind: 'subagent-end', agentId, agentType, ...present({ text }) }]
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
