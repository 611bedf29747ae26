import type { GateAnswer } from '../../contract/decision.ts'
import { askedQuestions } from '../../contract/formats/asked-questions.ts'
import { type Foreign, foreign, foreignList, foreignText, told } from '../../contract/formats/foreign-json.ts'
import { sha256Hex } from '../../contract/sha256.ts'
import type { Signal } from '../../contract/signal.ts'
import type { HookReply } from '../../ports/agent-cli.ts'
import { emptyReply, jsonReply, toolNamed } from '../system/hook-payload.ts'

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
      return call(hook).flatMap((found) => toolStart(found, seen))
    case 'AfterTool':
      return call(hook).map(({ callId, tool }) => ({
        ...seen,
        kind: 'tool-end',
        callId,
        tool,
        ...resultOf(tool, foreign(hook['tool_response'])),
      }))
    case 'Notification':
      return asking(hook, seen)
    case 'AfterAgent':
      return turnEnd(hook, at)
    case 'SessionEnd':
      return [{ ...seen, kind: 'gone', ...told({ reason: foreignText(hook['reason']) }) }]
    // Any other is fired before every turn, whether anything is compressed or not.
    case 'PreCompress':
      return hook['trigger'] === 'manual' ? [{ ...seen, kind: 'compacting', trigger: 'manual' }] : []
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
function call(hook: Foreign): readonly Call[] {
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

/** A command that failed is a success of the tool; its exit code is in the text for the model. */
export function shellFailure(tool: string, output: string | undefined): string | undefined {
  const code = tool === 'Bash' && output ? /^Exit Code: (?!0$)(\d+)$/m.exec(output)?.[1] : undefined
  return code === undefined ? undefined : `exit code ${code}`
}

type Call = { readonly callId: string; readonly tool: string; readonly input: unknown }

type Seen = { readonly source: 'hook'; readonly at: number }

function toolStart(found: Call, seen: Seen): readonly Signal[] {
  const { callId, tool, input } = found
  const start: Signal = { ...seen, kind: 'tool-start', ...found }
  const questions = tool === 'AskUserQuestion' ? askedQuestions(input) : []
  return questions.length === 0
    ? [start]
    : [start, { ...seen, kind: 'asking', ask: 'question', tool, callId, questions }]
}

/** Only a command is told as it was called; of the others the words say what they are about. */
function asking(hook: Foreign, seen: Seen): readonly Signal[] {
  const { type, command, serverName, toolName, title, filePath, fileDiff, urls } = foreign(hook['details'])
  // Questions were told with the call that asks them.
  if (hook['notification_type'] !== 'ToolPermission' || type === 'ask_user') return []
  const [server, own] = [foreignText(serverName), foreignText(command)]
  const named = {
    exec: 'Bash',
    edit: String(title).startsWith('Confirm Write') ? 'Write' : 'Edit',
    mcp: server && `mcp__${server}__${foreignText(toolName) ?? ''}`,
    exit_plan_mode: 'ExitPlanMode',
  }
  const tool = Object.entries(named).find(([kind]) => kind === type)?.[1]
  return [
    {
      ...seen,
      kind: 'asking',
      ask: type === 'exit_plan_mode' ? 'plan' : 'permission',
      ...told({
        tool,
        input: own === undefined ? changeOf({ filePath, fileDiff, urls }) : { command: own },
        detail: foreignText(hook['message']) ?? foreignText(title),
      }),
    },
  ]
}

/** What is to be changed or fetched, under the names that other CLIs call it by. */
function changeOf({ filePath, fileDiff, urls }: Foreign): unknown {
  const [path, diff] = [foreignText(filePath), foreignText(fileDiff)]
  const [url] = foreignList(urls).filter((one) => typeof one === 'string')
  if (path === undefined && url === undefined) return undefined
  return told({ file_path: path, diff, url })
}

/** It is fired after Escape and after an error too, with these words when there are none of the model; the transcript tells which it was. */
const noText = '[no response text]'

function turnEnd(hook: Foreign, at: number): readonly Signal[] {
  const text = foreignText(hook['prompt_response'])
  if (text === noText) return []
  return [{ source: 'hook', at, kind: 'turn-end', background: 0, ...told({ text }) }]
}

export function geminiGate(_payload: unknown, answer: GateAnswer): HookReply {
  if (answer.allowed) return emptyReply
  return jsonReply({ decision: 'deny', reason: answer.reason || 'not allowed' })
}

const contextEvents = new Set(['SessionStart', 'BeforeAgent', 'AfterTool'])

/** Context is added to the running turn; at its end the agent continues with the text. */
export function geminiInject(payload: unknown, text: string): HookReply | undefined {
  const event = foreignText(foreign(payload)['hook_event_name'])
  if (event === undefined) return undefined
  if (event === 'AfterAgent') return jsonReply({ decision: 'block', reason: text })
  if (!contextEvents.has(event)) return undefined
  return jsonReply({ hookSpecificOutput: { hookEventName: event, additionalContext: text } })
}

/** Gemini's own tools under the names that agent files are written with; others keep theirs. */
export const geminiTools: Readonly<Record<string, string>> = {
  run_shell_command: 'Bash',
  list_background_processes: 'Bash',
  read_background_output: 'Bash',
  read_file: 'Read',
  read_many_files: 'Read',
  write_file: 'Write',
  replace: 'Edit',
  glob: 'Glob',
  list_directory: 'Glob',
  grep_search: 'Grep',
  search_file_content: 'Grep',
  google_web_search: 'WebSearch',
  web_fetch: 'WebFetch',
  write_todos: 'TodoWrite',
  ask_user: 'AskUserQuestion',
  enter_plan_mode: 'EnterPlanMode',
  exit_plan_mode: 'ExitPlanMode',
  activate_skill: 'Skill',
  invoke_agent: 'Agent',
}

export const geminiTool = (name: string): string => toolNamed(geminiTools, name)
