import type { Decision, GateAnswer } from '../../../contract/decision.ts'
import type { HookReply } from '../../../ports/agent-cli.ts'
import { HookPayload, type Suggestion } from './hook-payload.ts'
import { present } from './present.ts'
import { questionsOf } from './questions.ts'

/** The answer that changes nothing. */
export const nothing: HookReply = { body: '{}', exitCode: 0 }

/** The answer that settles a PermissionRequest; nothing for a question without answers, whose dialog then stays. */
export function decisionReply(payload: unknown, decision: Decision): HookReply | undefined {
  const read = HookPayload.safeParse(payload)
  if (!read.success || read.data.hook_event_name !== 'PermissionRequest') return undefined
  if (decision.verdict === 'deny') {
    const { reason, isInterrupt } = decision
    return decided({ behavior: 'deny', message: reason ?? 'denied', ...present({ interrupt: isInterrupt }) })
  }
  return allowed(read.data, decision)
}

/** The answer to a PreToolUse that asks whether a tool may run; an allowed one still asks a person where it must. */
export function gateReply(_payload: unknown, answer: GateAnswer): HookReply {
  if (answer.allowed) return nothing
  const denial = { permissionDecision: 'deny', permissionDecisionReason: answer.reason }
  return reply({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...denial } })
}

/** The answer that brings a message into the running turn; nothing where the session itself would not see it. */
export function injectReply(payload: unknown, text: string): HookReply | undefined {
  const read = HookPayload.safeParse(payload)
  // What is told to a subagent's hook reaches the subagent alone.
  if (!read.success || read.data.agent_id !== undefined) return undefined
  const hookEventName = read.data.hook_event_name
  if (hookEventName === 'Stop') return reply({ decision: 'block', reason: text })
  if (!contextual.has(hookEventName)) return undefined
  return reply({ hookSpecificOutput: { hookEventName, additionalContext: text } })
}

// What is told with a prompt waits with it in the CLI's own queue, behind what the running turn is told, or leaves with it.
const contextual = new Set(['PostToolUse', 'PostToolUseFailure'])

type Allow = Extract<Decision, { verdict: 'allow' }>

function allowed(hook: HookPayload, decision: Allow): HookReply | undefined {
  const isKept = decision.scope !== 'once'
  switch (hook.tool_name ?? '') {
    case 'AskUserQuestion': {
      const answers = answersOf(hook.tool_input, decision.answers ?? {})
      return (
        answers && decided({ behavior: 'allow', updatedInput: { ...objectOf(hook.tool_input), answers } })
      )
    }
    case 'ExitPlanMode':
      // Without its input given back, newer versions ignore the answer and the dialog stays.
      return decided({
        behavior: 'allow',
        updatedInput: objectOf(hook.tool_input),
        ...(isKept && { updatedPermissions: [acceptEdits] }),
      })
    default: {
      const updatedPermissions = isKept ? kept(hook.permission_suggestions, decision.scope) : []
      return decided({ behavior: 'allow', ...(updatedPermissions.length > 0 && { updatedPermissions }) })
    }
  }
}

const acceptEdits = { type: 'setMode', mode: 'acceptEdits', destination: 'session' }

/**
 * What the CLI itself proposes to remember. Another mode allows far more than what was asked, so it is taken
 * only where it is the whole proposal, as for edits of files.
 */
function kept(
  suggestions: readonly Suggestion[],
  scope: 'session' | 'always' | 'once',
): readonly Suggestion[] {
  const modes = suggestions.filter(({ type }) => type === 'setMode')
  const rules = suggestions.filter(({ type }) => type !== 'setMode')
  const destination = scope === 'always' ? 'localSettings' : 'session'
  return rules.length > 0 ? rules.map((rule) => ({ ...rule, destination })) : modes
}

/** Answers by the text of each question, which may be given by its header too; undefined when one is missing. */
function answersOf(
  input: unknown,
  given: Readonly<Record<string, string>>,
): Record<string, string> | undefined {
  const questions = questionsOf(input)
  const [only] = Object.values(given)
  const isOne = questions.length === 1 && Object.keys(given).length === 1
  const answers: Record<string, string> = {}
  for (const { question, header } of questions) {
    const answer = given[question] ?? given[header ?? question] ?? (isOne ? only : undefined)
    if (answer === undefined) return undefined
    answers[question] = answer
  }
  return questions.length === 0 ? undefined : answers
}

const objectOf = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {})

const decided = (decision: object): HookReply =>
  reply({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } })

const reply = (answer: object): HookReply => ({ body: JSON.stringify(answer), exitCode: 0 })
