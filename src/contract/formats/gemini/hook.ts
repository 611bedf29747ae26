import { sha256Hex } from '../../sha256.ts'
import type { Signal } from '../../signal.ts'
import { type Foreign, foreign, foreignText, told } from '../foreign-json.ts'
import { shellFailure } from './calls.ts'
import { geminiTool } from './tools.ts'

const reasons = { startup: 'startup', resume: 'resume', clear: 'clear' } as const

/** What a hook of Gemini tells. */
export function geminiHook(payload: unknown, at: number): readonly Signal[] {
  const hook = foreign(payload)
  const seen = { source: 'hook', at } as const
  switch (hook['hook_event_name']) {
    case 'SessionStart':
      return [{ ...seen, kind: 'ready', ...readyOf(hook) }]
    case 'BeforeAgent':
      return [{ ...seen, kind: 'prompt', origin: 'person', ...told({ text: foreignText(hook['prompt']) }) }]
    case 'BeforeTool':
      return call(hook).map(({ callId, tool, input }) => ({
        ...seen,
        kind: 'tool-start',
        callId,
        tool,
        input,
      }))
    case 'AfterTool':
      return call(hook).map(({ callId, tool }) => ({
        ...seen,
        kind: 'tool-end',
        callId,
        tool,
        ...resultOf(tool, foreign(hook['tool_response'])),
      }))
    case 'Notification':
      return hook['notification_type'] === 'ToolPermission'
        ? [{ ...seen, kind: 'asking', ...askedOf(hook) }]
        : []
    case 'AfterAgent':
      return turnEnd(hook, at)
    case 'SessionEnd':
      return [{ ...seen, kind: 'gone', ...told({ reason: foreignText(hook['reason']) }) }]
    // PreCompress is fired before every turn, whether anything is compressed or not.
    default:
      return []
  }
}

function readyOf(hook: Foreign) {
  const source = foreignText(hook['source'])
  const isKnown = source !== undefined && Object.hasOwn(reasons, source)
  return told({
    reason: isKnown ? reasons[source as keyof typeof reasons] : undefined,
    foreignId: foreignText(hook['session_id']),
    transcript: foreignText(hook['transcript_path']),
    cwd: foreignText(hook['cwd']),
  })
}

/** Hooks carry no id of the call: the same tool with the same input is the same call before and after. */
function call(hook: Foreign): readonly { callId: string; tool: string; input: unknown }[] {
  const name = foreignText(hook['tool_name'])
  if (name === undefined) return []
  const input = hook['tool_input']
  const digest = sha256Hex(JSON.stringify([name, input ?? null])).slice(0, 16)
  // A permission is asked with the command alone; with more in it the two would look like different calls.
  const command = name === 'run_shell_command' ? foreignText(foreign(input)['command']) : undefined
  const shown = command === undefined ? input : { command }
  return [{ callId: `gemini:${digest}`, tool: geminiTool(name), input: shown }]
}

function resultOf(tool: string, { error, llmContent }: Foreign) {
  const output = foreignText(llmContent)
  const message = foreignText(foreign(error)['message']) ?? foreignText(error) ?? shellFailure(tool, output)
  const ok = (error === undefined || error === null) && message === undefined
  return { ok, ...told({ output, error: message }) }
}

const toolOfAsk: Readonly<Record<string, string>> = { exec: 'Bash', edit: 'Edit', info: 'WebFetch' }

function askedOf(hook: Foreign) {
  const { type, command, filePath, urls, serverName, toolName, title } = foreign(hook['details'])
  const kind = foreignText(type) ?? ''
  const ask = kind === 'ask_user' ? 'question' : kind === 'exit_plan_mode' ? 'plan' : 'permission'
  const mcp = foreignText(serverName) && `mcp__${foreignText(serverName)}__${foreignText(toolName) ?? ''}`
  const input = told({ command: foreignText(command), file_path: foreignText(filePath), urls })
  return {
    ask,
    ...told({
      tool: mcp ?? toolOfAsk[kind],
      input: Object.keys(input).length > 0 ? input : undefined,
      detail: foreignText(hook['message']) ?? foreignText(title),
    }),
  } as const
}

/** It is fired after Escape and after an error too, then with these words; the transcript tells which it was. */
const noText = '[no response text]'

function turnEnd(hook: Foreign, at: number): readonly Signal[] {
  const text = foreignText(hook['prompt_response'])
  if (text === noText) return []
  return [{ source: 'hook', at, kind: 'turn-end', background: 0, ...told({ text }) }]
}
