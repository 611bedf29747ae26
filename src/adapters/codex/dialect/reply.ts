import type { Decision, GateAnswer } from '../../../contract/decision.ts'
import { foreign, foreignText, told } from '../../../contract/formats/foreign-json.ts'
import type { HookReply } from '../../../ports/agent-cli.ts'

const say = (value: unknown): HookReply => ({ body: JSON.stringify(value), exitCode: 0 })

/** Codex takes an answer to one request only: scopes beyond it, changed input and an interrupt are refused by it. */
export function codexDecision(payload: unknown, decision: Decision): HookReply | undefined {
  if (foreign(payload)['hook_event_name'] !== 'PermissionRequest') return undefined
  const message = decision.verdict === 'deny' ? decision.reason : undefined
  return say({
    hookSpecificOutput: {
      hookEventName: 'PermissionRequest',
      decision: told({ behavior: decision.verdict, message }),
    },
  })
}

export function codexGate(_payload: unknown, answer: GateAnswer): HookReply {
  if (answer.allowed) return { body: '', exitCode: 0 }
  return say({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      // An empty reason makes the answer invalid, and an invalid answer lets the tool run.
      permissionDecisionReason: answer.reason || 'not allowed',
    },
  })
}

const contextEvents = new Set(['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse'])

/** Context is added to the running turn; at its end the text becomes what the agent goes on with. */
export function codexInject(payload: unknown, text: string): HookReply | undefined {
  const event = foreignText(foreign(payload)['hook_event_name'])
  if (event === undefined) return undefined
  if (event === 'Stop' || event === 'SubagentStop') return say({ decision: 'block', reason: text })
  if (!contextEvents.has(event)) return undefined
  return say({ hookSpecificOutput: { hookEventName: event, additionalContext: text } })
}
