import type { Signal, SignalOf } from '../../../contract/signal.ts'
import { failureOf } from './failure.ts'
import { HookPayload } from './hook-payload.ts'
import { meterOf } from './meter.ts'
import { present } from './present.ts'
import { questionsOf } from './questions.ts'
import { isTaskNotification } from './task-notification.ts'

/** What a hook's payload, or that of a status line, tells. */
export function hookSignals(payload: unknown, at: number): readonly Signal[] {
  const read = HookPayload.safeParse(payload)
  // A status line has no event; the command that reports it gives it one.
  if (!read.success || read.data.hook_event_name === 'statusline') return meterOf(payload, at)
  const hook = read.data
  // A compaction runs an agent of its own, without a type; it is no subagent of the session.
  if (hook.agent_id !== undefined && hook.agent_type === undefined) return []
  const say = readers[hook.hook_event_name]
  const base: Base = { source: 'hook', at, ...present({ agent: hook.agent_id }) }
  return say?.(hook, base) ?? []
}

type Base = { readonly source: 'hook'; readonly at: number; readonly agent?: string }
type Reader = (hook: HookPayload, base: Base) => readonly Signal[]

const readers: Readonly<Partial<Record<string, Reader>>> = {
  SessionStart: (hook, base) => [
    {
      ...base,
      kind: 'ready',
      ...present({
        reason: startReasons[hook.source ?? ''],
        foreignId: hook.session_id,
        transcript: hook.transcript_path,
        model: hook.model,
        cwd: hook.cwd,
      }),
    },
  ],
  SessionEnd: (hook, base) => [{ ...base, kind: 'gone', ...present({ reason: hook.reason }) }],
  UserPromptSubmit: (hook, base) => [
    {
      ...base,
      kind: 'prompt',
      origin: isTaskNotification(hook.prompt ?? '') ? 'task' : 'person',
      ...present({ text: hook.prompt, promptId: hook.prompt_id }),
    },
  ],
  PreToolUse: ({ tool_use_id: callId, tool_name: tool, tool_input: input }, base) =>
    callId && tool ? [{ ...base, kind: 'tool-start', callId, tool, ...present({ input }) }] : [],
  PermissionRequest: (hook, base) => [asking(hook, base)],
  PermissionDenied: (hook, base) =>
    toolEnd(hook, base, { ok: false, error: hook.reason ?? hook.error ?? 'denied' }),
  PostToolUse: (hook, base) => toolEnd(hook, base, { ok: true, ...present({ output: hook.tool_response }) }),
  PostToolUseFailure: (hook, base) =>
    toolEnd(hook, base, { ok: false, ...present({ error: hook.error, isInterrupt: hook.is_interrupt }) }),
  Notification: (hook, base) => notified(hook, base),
  Stop: (hook, base) => [
    {
      ...base,
      kind: 'turn-end',
      background: hook.background_tasks.filter(({ status }) => status === undefined || status === 'running')
        .length,
      ...present({ text: hook.last_assistant_message }),
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
            ...present({ text: hook.last_assistant_message, transcript: hook.agent_transcript_path }),
          },
        ]
      : [],
  PostCompact: (hook, base) => [
    {
      ...base,
      kind: 'compacted',
      ...present({ trigger: trigger(hook.trigger), summary: hook.compact_summary }),
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

/** What set a compaction off, where it is one of the two that are known. */
export const trigger = (word: string | undefined): 'auto' | 'manual' | undefined =>
  word === 'auto' || word === 'manual' ? word : undefined

function asking(hook: HookPayload, base: Base): SignalOf<'asking'> {
  const { tool_name: tool, tool_input: input } = hook
  const about = present({ tool, input })
  if (tool === 'AskUserQuestion')
    return { ...base, kind: 'asking', ask: 'question', ...about, questions: questionsOf(input) }
  return { ...base, kind: 'asking', ask: tool === 'ExitPlanMode' ? 'plan' : 'permission', ...about }
}

type Ending = Pick<SignalOf<'tool-end'>, 'ok' | 'output' | 'error' | 'isInterrupt'>

function toolEnd(hook: HookPayload, base: Base, ending: Ending): readonly Signal[] {
  const { tool_use_id: callId, tool_name: tool, duration_ms: durationMs } = hook
  return callId ? [{ ...base, kind: 'tool-end', callId, ...present({ tool, durationMs }), ...ending }] : []
}

/** Said seconds later and vaguely: which tool is meant, only the hook before it knew. */
function notified(hook: HookPayload, base: Base): readonly Signal[] {
  const detail = present({ detail: hook.message })
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
