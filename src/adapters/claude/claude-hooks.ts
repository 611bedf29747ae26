import type { Decision, GateAnswer } from '../../contract/decision.ts'
import { askedQuestions } from '../../contract/formats/asked-questions.ts'
import { told } from '../../contract/formats/foreign-json.ts'
import type { RateLimit, Signal, SignalOf } from '../../contract/signal.ts'
import type { HookReply } from '../../ports/agent-cli.ts'
import { jsonReply } from '../system/hook-payload.ts'
import { failureOf } from './claude-failure.ts'
import {
  compactionTrigger,
  HookPayload,
  isTaskNotification,
  RateLimitWindow,
  StatusPayload,
  type Suggestion,
} from './claude-shapes.ts'

/** What a hook's payload, or that of a status line, tells. */
export function hookSignals(payload: unknown, at: number): readonly Signal[] {
  const read = HookPayload.safeParse(payload)
  // A status line has no event; the command that reports it gives it one.
  if (!read.success || read.data.hook_event_name === 'statusline') return meterOf(payload, at)
  const hook = read.data
  // A compaction runs an internal agent without a type, which is no subagent of the session.
  if (hook.agent_id !== undefined && hook.agent_type === undefined) return []
  const say = readers[hook.hook_event_name]
  const base: Base = { source: 'hook', at, ...told({ agent: hook.agent_id }) }
  return say?.(hook, base) ?? []
}

type Base = { readonly source: 'hook'; readonly at: number; readonly agent?: string }

type Reader = (hook: HookPayload, base: Base) => readonly Signal[]

const readers: Readonly<Partial<Record<string, Reader>>> = {
  SessionStart: (hook, base) => [
    {
      ...base,
      kind: 'ready',
      ...told({
        reason: startReasons[hook.source ?? ''],
        foreignId: hook.session_id,
        transcript: hook.transcript_path,
        model: hook.model,
        cwd: hook.cwd,
      }),
    },
  ],
  SessionEnd: (hook, base) => [{ ...base, kind: 'gone', ...told({ reason: hook.reason }) }],
  UserPromptSubmit: (hook, base) => [
    {
      ...base,
      kind: 'prompt',
      origin: isTaskNotification(hook.prompt ?? '') ? 'task' : 'person',
      ...told({ text: hook.prompt, promptId: hook.prompt_id }),
    },
  ],
  PreToolUse: ({ tool_use_id: callId, tool_name: tool, tool_input: input }, base) =>
    callId && tool ? [{ ...base, kind: 'tool-start', callId, tool, ...told({ input }) }] : [],
  PermissionRequest: (hook, base) => [asking(hook, base)],
  PermissionDenied: (hook, base) =>
    toolEnd(hook, base, { ok: false, error: hook.reason ?? hook.error ?? 'denied' }),
  PostToolUse: (hook, base) => toolEnd(hook, base, { ok: true, ...told({ output: hook.tool_response }) }),
  PostToolUseFailure: (hook, base) =>
    toolEnd(hook, base, { ok: false, ...told({ error: hook.error, isInterrupt: hook.is_interrupt }) }),
  Notification: (hook, base) => notified(hook, base),
  Stop: (hook, base) => [
    {
      ...base,
      kind: 'turn-end',
      background: hook.background_tasks.filter(({ status }) => status === undefined || status === 'running')
        .length,
      ...told({ text: hook.last_assistant_message }),
    },
  ],
  StopFailure: (hook, base) => [
    {
      ...base,
      kind: 'turn-failed',
      ...failureOf({ code: hook.error, text: hook.last_assistant_message }, base.at),
    },
  ],
  SubagentStart: ({ agent_id: agentId, agent_type: agentType }, { source, at }) =>
    agentId && agentType ? [{ source, at, kind: 'subagent-start', agentId, agentType }] : [],
  SubagentStop: (hook, { source, at }) =>
    hook.agent_id && hook.agent_type
      ? [
          {
            source,
            at,
            kind: 'subagent-end',
            agentId: hook.agent_id,
            agentType: hook.agent_type,
            ...told({ text: hook.last_assistant_message, transcript: hook.agent_transcript_path }),
          },
        ]
      : [],
  PreCompact: (hook, base) => [
    { ...base, kind: 'compacting', ...told({ trigger: compactionTrigger(hook.trigger) }) },
  ],
  PostCompact: (hook, base) => [
    {
      ...base,
      kind: 'compacted',
      ...told({ trigger: compactionTrigger(hook.trigger), summary: hook.compact_summary }),
    },
  ],
}

const startReasons: Readonly<Partial<Record<string, 'startup' | 'resume' | 'clear' | 'compact'>>> = {
  startup: 'startup',
  resume: 'resume',
  fork: 'resume',
  clear: 'clear',
  compact: 'compact',
}

function asking(hook: HookPayload, base: Base): SignalOf<'asking'> {
  const { tool_name: tool, tool_input: input } = hook
  const about = told({ tool, input })
  if (tool === 'AskUserQuestion')
    return { ...base, kind: 'asking', ask: 'question', ...about, questions: askedQuestions(input) }
  return { ...base, kind: 'asking', ask: tool === 'ExitPlanMode' ? 'plan' : 'permission', ...about }
}

type Ending = Pick<SignalOf<'tool-end'>, 'ok' | 'output' | 'error' | 'isInterrupt'>

function toolEnd(hook: HookPayload, base: Base, ending: Ending): readonly Signal[] {
  const { tool_use_id: callId, tool_name: tool, duration_ms: durationMs } = hook
  return callId ? [{ ...base, kind: 'tool-end', callId, ...told({ tool, durationMs }), ...ending }] : []
}

/** Said seconds later and vaguely: which tool is meant, only the hook before it knew. */
function notified(hook: HookPayload, base: Base): readonly Signal[] {
  const detail = told({ detail: hook.message })
  switch (hook.notification_type ?? '') {
    case 'idle_prompt':
      return [{ ...base, kind: 'idle' }]
    case 'permission_prompt':
      return [{ ...base, kind: 'asking', ask: 'permission', ...detail }]
    case 'elicitation_dialog':
      return [{ ...base, kind: 'asking', ask: 'question', ...detail }]
    default:
      return []
  }
}

/** What the status line knows: nothing else tells how full the context is and how much of an allowance is used. */
function meterOf(payload: unknown, at: number): readonly Signal[] {
  const read = StatusPayload.safeParse(payload)
  if (!read.success) return []
  const { model, cost, context_window: context, rate_limits: limits } = read.data
  if (!model && !cost && !context) return []
  return [
    {
      kind: 'meter',
      source: 'hook',
      at,
      ...told({
        model: model?.id,
        costUsd: cost?.total_cost_usd,
        billing: billingOf(cost?.total_cost_usd, limits),
        contextPercent: context?.used_percentage,
        limits: limits && rateLimits(limits),
      }),
    },
  ]
}

/** Only a plan has allowances, and they are told with the first answer: before it nobody knows. */
function billingOf(spent: number | undefined, limits: object | undefined): 'api' | 'plan' | undefined {
  if (limits && Object.keys(limits).length > 0) return 'plan'
  return spent !== undefined && spent > 0 ? 'api' : undefined
}

const rateLimits = (limits: Readonly<Record<string, unknown>>): RateLimit[] =>
  Object.entries(limits).flatMap(([name, window]) => {
    const read = RateLimitWindow.safeParse(window)
    if (!read.success) return []
    const { used_percentage: usedPercent, resets_at: resetsAt } = read.data
    return [
      { name, ...told({ usedPercent, resetsAtMs: resetsAt === undefined ? undefined : resetsAt * 1000 }) },
    ]
  })

/** The answer that changes nothing. */
export const nothing: HookReply = { body: '{}', exitCode: 0 }

/** The answer that settles a PermissionRequest; nothing for a question without answers, whose dialog then stays. */
export function decisionReply(payload: unknown, decision: Decision): HookReply | undefined {
  const read = HookPayload.safeParse(payload)
  if (!read.success || read.data.hook_event_name !== 'PermissionRequest') return undefined
  if (decision.verdict === 'deny') {
    const { reason, isInterrupt } = decision
    return decided({ behavior: 'deny', message: reason ?? 'denied', ...told({ interrupt: isInterrupt }) })
  }
  return allowed(read.data, decision)
}

/** The answer to a PreToolUse that asks whether a tool may run; an allowed one still asks a person where it must. */
export function gateReply(_payload: unknown, answer: GateAnswer): HookReply {
  if (answer.allowed) return nothing
  const denial = { permissionDecision: 'deny', permissionDecisionReason: answer.reason }
  return jsonReply({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...denial } })
}

/** The answer that brings a message into the running turn; nothing where the session itself would not see it. */
export function injectReply(payload: unknown, text: string): HookReply | undefined {
  const read = HookPayload.safeParse(payload)
  // What is told to a subagent's hook reaches the subagent alone.
  if (!read.success || read.data.agent_id !== undefined) return undefined
  const hookEventName = read.data.hook_event_name
  if (hookEventName === 'Stop') return jsonReply({ decision: 'block', reason: text })
  if (!contextual.has(hookEventName)) return undefined
  return jsonReply({ hookSpecificOutput: { hookEventName, additionalContext: text } })
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

/** Answers by the text of each question; undefined when one is missing. */
function answersOf(
  input: unknown,
  given: Readonly<Record<string, string>>,
): Record<string, string> | undefined {
  const answers: Record<string, string> = {}
  for (const { question } of askedQuestions(input)) {
    const answer = given[question]
    if (answer === undefined) return undefined
    answers[question] = answer
  }
  return Object.keys(answers).length === 0 ? undefined : answers
}

const objectOf = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {})

const decided = (decision: object): HookReply =>
  jsonReply({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } })
