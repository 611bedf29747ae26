import type { GateAnswer } from '../../../contract/decision.ts'
import { foreign, foreignText } from '../../../contract/formats/foreign-json.ts'
import type { HookReply } from '../../../ports/agent-cli.ts'

const say = (value: unknown): HookReply => ({ body: JSON.stringify(value), exitCode: 0 })

export function geminiGate(_payload: unknown, answer: GateAnswer): HookReply {
  if (answer.allowed) return { body: '', exitCode: 0 }
  return say({ decision: 'deny', reason: answer.reason || 'not allowed' })
}

const contextEvents = new Set(['SessionStart', 'BeforeAgent', 'AfterTool'])

/** Context is added to the running turn; at its end the text becomes what the agent goes on with. */
export function geminiInject(payload: unknown, text: string): HookReply | undefined {
  const event = foreignText(foreign(payload)['hook_event_name'])
  if (event === undefined) return undefined
  if (event === 'AfterAgent') return say({ decision: 'block', reason: text })
  if (!contextEvents.has(event)) return undefined
  return say({ hookSpecificOutput: { hookEventName: event, additionalContext: text } })
}
