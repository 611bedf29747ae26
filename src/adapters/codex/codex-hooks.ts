import type { Decision, GateAnswer } from '../../contract/decision.ts'
import { askedQuestions } from '../../contract/formats/asked-questions.ts'
import { type Foreign, foreign, foreignText, told } from '../../contract/formats/foreign-json.ts'
import type { Signal } from '../../contract/signal.ts'
import type { HookReply } from '../../ports/agent-cli.ts'
import { emptyReply, jsonReply, toolNamed } from '../system/hook-payload.ts'

const reasons = { startup: 'startup', resume: 'resume', clear: 'clear', compact: 'compact' } as const
const reasonOf = (source: unknown) =>
  typeof source === 'string' && Object.hasOwn(reasons, source)
    ? reasons[source as keyof typeof reasons]
    : undefined

/** What a hook of Codex tells. Its payloads are shaped like Claude's, with an Interrupt beside them. */
export function codexHook(payload: unknown, at: number): readonly Signal[] {
  const hook = foreign(payload)
  // Inside a subagent the session id is still the parent's, and only this field tells them apart.
  const seen = told({ source: 'hook' as const, at, agent: foreignText(hook['agent_id']) })
  switch (hook['hook_event_name']) {
    case 'SessionStart':
      return [{ ...seen, kind: 'ready', ...readyOf(hook) }]
    case 'UserPromptSubmit':
      return [
        {
          ...seen,
          kind: 'prompt',
          origin: seen.agent === undefined ? 'person' : 'task',
          ...told({ text: foreignText(hook['prompt']) }),
        },
      ]
    case 'PreToolUse':
      return toolStart(hook, seen)
    case 'PostToolUse':
      return toolEnd(hook, seen)
    case 'PermissionRequest':
      // The dialog comes up only when the hook has no answer.
      return [{ ...seen, kind: 'asking', ask: 'permission', isUnseen: true, ...askedOf(hook) }]
    case 'Stop':
      return [
        {
          ...seen,
          kind: 'turn-end',
          background: 0,
          ...told({ text: foreignText(hook['last_assistant_message']) }),
        },
      ]
    case 'Interrupt':
      return [{ ...seen, kind: 'interrupted' }]
    case 'SubagentStart':
    case 'SubagentStop':
      return subagent(hook, at)
    case 'PreCompact':
      return [{ ...seen, kind: 'compacting', ...told({ trigger: triggerOf(hook['trigger']) }) }]
    case 'PostCompact':
      return [{ ...seen, kind: 'compacted', ...told({ trigger: triggerOf(hook['trigger']) }) }]
    case 'SessionEnd':
      return [{ ...seen, kind: 'gone', ...told({ reason: foreignText(hook['reason']) }) }]
    default:
      return []
  }
}

type Seen = { readonly source: 'hook'; readonly at: number; readonly agent?: string }

const readyOf = (hook: Foreign) =>
  told({
    reason: reasonOf(hook['source']),
    foreignId: foreignText(hook['session_id']),
    transcript: foreignText(hook['transcript_path']),
    model: foreignText(hook['model']),
    cwd: foreignText(hook['cwd']),
  })

const askedOf = (hook: Foreign) => {
  const tool = foreignText(hook['tool_name'])
  // The reason is put among the input here and not when the tool starts; without it they are the same call.
  const { description, ...input } = foreign(hook['tool_input'])
  return told({
    tool: tool && codexTool(tool),
    callId: foreignText(hook['tool_use_id']),
    input,
    detail: foreignText(description),
  })
}

function toolStart(hook: Foreign, seen: Seen): readonly Signal[] {
  const [callId, name] = [foreignText(hook['tool_use_id']), foreignText(hook['tool_name'])]
  if (callId === undefined || name === undefined) return []
  const [tool, input] = [codexTool(name), hook['tool_input']]
  const start: Signal = { ...seen, kind: 'tool-start', callId, tool, ...told({ input }) }
  const questions = name === 'request_user_input' ? askedQuestions(input) : []
  if (questions.length === 0) return [start]
  return [start, { ...seen, kind: 'asking', ask: 'question', tool, callId, input, questions }]
}

/** A command's exit code is not in the payload: whether it went well is in the transcript alone. */
function toolEnd(hook: Foreign, seen: Seen): readonly Signal[] {
  const [callId, name] = [foreignText(hook['tool_use_id']), foreignText(hook['tool_name'])]
  const tool = name && codexTool(name)
  if (callId === undefined || tool === undefined || tool === 'Bash') return []
  return [{ ...seen, kind: 'tool-end', callId, tool, ok: true, ...told({ output: hook['tool_response'] }) }]
}

function subagent(hook: Foreign, at: number): readonly Signal[] {
  const agentId = foreignText(hook['agent_id'])
  if (agentId === undefined) return []
  const agentType = foreignText(hook['agent_type']) ?? 'default'
  const seen = { source: 'hook', at, agentId, agentType } as const
  if (hook['hook_event_name'] === 'SubagentStart')
    return [
      { ...seen, kind: 'subagent-start', ...told({ transcript: foreignText(hook['transcript_path']) }) },
    ]
  return [
    {
      ...seen,
      kind: 'subagent-end',
      ...told({
        text: foreignText(hook['last_assistant_message']),
        transcript: foreignText(hook['agent_transcript_path']),
      }),
    },
  ]
}

const triggerOf = (trigger: unknown): 'auto' | 'manual' | undefined =>
  trigger === 'auto' || trigger === 'manual' ? trigger : undefined

/** Codex takes an answer to one request only: scopes beyond it, changed input and an interrupt are refused by it. */
export function codexDecision(payload: unknown, decision: Decision): HookReply | undefined {
  if (foreign(payload)['hook_event_name'] !== 'PermissionRequest') return undefined
  const message = decision.verdict === 'deny' ? decision.reason : undefined
  return jsonReply({
    hookSpecificOutput: {
      hookEventName: 'PermissionRequest',
      decision: told({ behavior: decision.verdict, message }),
    },
  })
}

export function codexGate(_payload: unknown, answer: GateAnswer): HookReply {
  if (answer.allowed) return emptyReply
  return jsonReply({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      // An empty reason makes the answer invalid, and an invalid answer lets the tool run.
      permissionDecisionReason: answer.reason || 'not allowed',
    },
  })
}

const contextEvents = new Set(['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse'])

/** Context is added to the running turn; at its end the agent continues with the text. */
export function codexInject(payload: unknown, text: string): HookReply | undefined {
  const event = foreignText(foreign(payload)['hook_event_name'])
  if (event === undefined) return undefined
  if (event === 'Stop' || event === 'SubagentStop') return jsonReply({ decision: 'block', reason: text })
  if (!contextEvents.has(event)) return undefined
  return jsonReply({ hookSpecificOutput: { hookEventName: event, additionalContext: text } })
}

/** Codex's own tools under the names that agent files are written with; others keep theirs. */
const tools: Readonly<Record<string, string>> = {
  exec_command: 'Bash',
  shell: 'Bash',
  shell_command: 'Bash',
  local_shell: 'Bash',
  write_stdin: 'Bash',
  apply_patch: 'Edit',
  view_image: 'Read',
  update_plan: 'TodoWrite',
  web_search: 'WebSearch',
  spawn_agent: 'Agent',
  request_user_input: 'AskUserQuestion',
}

export const codexTool = (name: string): string => toolNamed(tools, name)
