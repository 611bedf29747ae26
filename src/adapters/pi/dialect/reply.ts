import type { Decision, GateAnswer } from '../../../contract/decision.ts'
import { foreign, told } from '../../../contract/formats/foreign-json.ts'
import type { HookReply } from '../../../ports/agent-cli.ts'

/** The extension takes its answers as JSON and does what they say. */
const say = (value: unknown): HookReply => ({ body: JSON.stringify(value), exitCode: 0 })

/** pi asks nothing itself: the extension does. It could remember a tool as a whole only, so each answer is for once. */
export function piDecision(payload: unknown, decision: Decision): HookReply | undefined {
  if (foreign(payload)['event'] !== 'permission_request') return undefined
  if (decision.verdict === 'deny') return say(told({ allow: false, reason: decision.reason }))
  return say({ allow: true })
}

export const piGate = (_payload: unknown, gate: GateAnswer): HookReply =>
  say(gate.allowed ? { allow: true } : { allow: false, reason: gate.reason })

const additions = new Set(['before_agent_start', 'tool_result'])

/** A message can stand beside a prompt or behind the result of a tool. */
export const piInject = (payload: unknown, text: string): HookReply | undefined =>
  additions.has(String(foreign(payload)['event'])) ? say({ append: text }) : undefined
