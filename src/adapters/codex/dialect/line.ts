import {
  type Foreign,
  foreign,
  foreignLine,
  foreignList,
  foreignText,
  foreignTime,
  told,
} from '../../../contract/formats/foreign-json.ts'
import type { Signal } from '../../../contract/signal.ts'
import type { TranscriptContext } from '../../../ports/agent-cli.ts'
import { callOutput, callStart, commandEnd } from './calls.ts'
import { turnFailed } from './failure.ts'
import { meterOf, usageCount, usageRecord } from './usage.ts'

/** What one line of a rollout file tells. */
export function codexLine(line: string, context: TranscriptContext): readonly Signal[] {
  const record = foreignLine(line)
  const at = foreignTime(record?.['timestamp'])
  if (!record || at === undefined) return []
  const { memory } = context
  const payload = foreign(record['payload'])
  const seen = told({ source: 'transcript' as const, at, agent: context.agent })
  switch (record['type']) {
    case 'session_meta':
      return opening(payload, context, at)
    case 'turn_context':
      memory['model'] = foreignText(payload['model']) ?? memory['model']
      return []
    case 'response_item':
      return item(payload, context, seen)
    case 'event_msg':
      return event(payload, context, seen)
    case 'token_usage_record':
      return usageRecord(payload, memory, seen)
    case 'compacted':
      return [{ ...seen, kind: 'compacted' }]
    default:
      return []
  }
}

type Seen = { readonly source: 'transcript'; readonly at: number; readonly agent?: string }

/** A subagent's file begins with its parent's id; that it started is told of the parent's session. */
function opening(payload: Foreign, { memory }: TranscriptContext, at: number): readonly Signal[] {
  const id = foreignText(payload['id'])
  if (id === undefined) return []
  memory['thread'] = id
  if (foreignText(payload['parent_thread_id']) !== undefined)
    return [
      {
        source: 'transcript',
        at,
        kind: 'subagent-start',
        agentId: id,
        agentType: foreignText(payload['agent_role']) ?? 'default',
        isBackground: true,
        ...told({ description: foreignText(payload['agent_nickname']) }),
      },
    ]
  const known = { cwd: foreignText(payload['cwd']), version: foreignText(payload['cli_version']) }
  return [{ source: 'transcript', at, kind: 'ready', foreignId: id, ...told(known) }]
}

function item(payload: Foreign, { memory }: TranscriptContext, seen: Seen): readonly Signal[] {
  switch (payload['type']) {
    case 'function_call':
    case 'custom_tool_call':
    case 'local_shell_call':
      return callStart(payload, memory, seen)
    case 'function_call_output':
    case 'custom_tool_call_output':
      return callOutput(payload, memory, seen)
    default:
      return []
  }
}

function event(payload: Foreign, { memory }: TranscriptContext, seen: Seen): readonly Signal[] {
  switch (payload['type']) {
    case 'item_completed':
      return completed(foreign(payload['item']), memory, seen)
    case 'token_count':
      return [...usageCount(foreign(payload['info']), memory, seen), ...meterOf(payload, seen)]
    case 'task_complete':
      return payload['error'] === undefined || payload['error'] === null
        ? turnEnd(told({ text: foreignText(payload['last_agent_message']) }), seen)
        : [turnFailed(foreign(payload['error']), seen)]
    case 'turn_aborted':
      return payload['reason'] === 'interrupted' ? [{ ...seen, kind: 'interrupted' }] : []
    default:
      return []
  }
}

function turnEnd(answer: { readonly text?: string }, seen: Seen): readonly Signal[] {
  const end: Signal = { ...seen, kind: 'turn-end', background: 0, ...answer }
  if (seen.agent === undefined) return [end]
  // The end of a subagent's turn is its end; a hook that tells it may have been lost.
  return [end, { source: 'transcript', at: seen.at, kind: 'subagent-end', agentId: seen.agent, ...answer }]
}

function completed(done: Foreign, memory: TranscriptContext['memory'], seen: Seen): readonly Signal[] {
  const text = textOf(done['content'])
  switch (done['type']) {
    case 'UserMessage':
      return [
        {
          ...seen,
          kind: 'prompt',
          origin: seen.agent === undefined ? 'person' : 'task',
          ...told({ text: text || undefined, promptId: foreignText(done['id']) }),
        },
      ]
    case 'AgentMessage':
      return text === ''
        ? []
        : [{ ...seen, kind: 'text', text, ...told({ messageId: foreignText(done['id']) }) }]
    case 'CommandExecution':
      return commandEnd(done, memory, seen)
    default:
      return []
  }
}

const textOf = (content: unknown): string =>
  foreignList(content)
    .flatMap((part) => foreignText(foreign(part)['text']) ?? [])
    .join('\n')
