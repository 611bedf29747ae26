import type { Decision, GateAnswer } from '../../../contract/decision.ts'
import { type Foreign, foreign, told } from '../../../contract/formats/foreign-json.ts'
import type { HookReply } from '../../../ports/agent-cli.ts'
import { askedQuestions } from '../../system/asked-questions.ts'

/** The plugin takes its answers as JSON: what it is to send to OpenCode, or what it is to do itself. */
const say = (value: unknown): HookReply => ({ body: JSON.stringify(value), exitCode: 0 })

/** `always` is remembered by OpenCode until it ends, which is what a session is. */
export function openCodeDecision(payload: unknown, decision: Decision): HookReply | undefined {
  const hook = foreign(payload)
  if (hook['event'] === 'question.asked') return answer(hook, decision)
  if (hook['event'] !== 'permission.asked') return undefined
  const reply = decision.verdict === 'deny' ? 'reject' : decision.scope === 'once' ? 'once' : 'always'
  const message = decision.verdict === 'deny' ? decision.reason : undefined
  return say({ path: 'reply', body: told({ reply, message }) })
}

/** One answer for each question, in their order; without answers there is nothing to reply with. */
function answer(hook: Foreign, decision: Decision): HookReply | undefined {
  if (decision.verdict === 'deny') return say({ path: 'reject' })
  const { answers } = decision
  if (!answers) return undefined
  const chosen = askedQuestions(hook).map(({ question }) => (answers[question] ? [answers[question]] : []))
  return say({ path: 'reply', body: { answers: chosen } })
}

export const openCodeGate = (_payload: unknown, gate: GateAnswer): HookReply =>
  say(gate.allowed ? { allow: true } : { allow: false, reason: gate.reason })

/** Only the result of a tool can be added to. */
export const openCodeInject = (payload: unknown, text: string): HookReply | undefined =>
  foreign(payload)['event'] === 'tool.after' ? say({ append: text }) : undefined
