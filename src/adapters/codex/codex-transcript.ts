import type * as z from 'zod'
import { askedQuestions } from '../../contract/formats/asked-questions.ts'
import {
  type Foreign,
  foreign,
  foreignCount,
  foreignLine,
  foreignList,
  foreignText,
  foreignTime,
  told,
} from '../../contract/formats/foreign-json.ts'
import type { Signal, SignalOf } from '../../contract/signal.ts'
import type { Tokens } from '../../contract/values.ts'
import type { TranscriptContext, TranscriptMemory } from '../../ports/agent-cli.ts'
import { codexTool } from './codex-hooks.ts'

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

/** What an output begins with when the call did not run; there is no other sign in it. */
const failures =
  /^(exec_command failed|unsupported |unable to |Command blocked by|failed |error:|apply_patch )/i
const exited = /^Process exited with code (\d+)$/m

/** A call the model made: it is open until the first line that tells how it went. */
function callStart(item: Foreign, memory: TranscriptMemory, seen: Seen): readonly Signal[] {
  const [callId, name] = [foreignText(item['call_id']), nameOf(item)]
  if (callId === undefined || name === undefined) return []
  const [tool, input] = [codexTool(name), inputOf(item)]
  memory['open'] = { ...foreign(memory['open']), [callId]: tool }
  const start: Signal = { ...seen, kind: 'tool-start', callId, tool, ...told({ input }) }
  const questions = name === 'request_user_input' ? askedQuestions(input) : []
  if (questions.length === 0) return [start]
  return [start, { ...seen, kind: 'asking', ask: 'question', tool, callId, questions }]
}

/** The answer that went back to the model. */
function callOutput(item: Foreign, memory: TranscriptMemory, seen: Seen): readonly Signal[] {
  const output = item['output']
  const text = typeof output === 'string' ? output : undefined
  const code = text === undefined ? undefined : exited.exec(text)?.[1]
  const isFailed = text !== undefined && failures.test(text)
  const ok = code === undefined ? !isFailed && foreign(output)['success'] !== false : code === '0'
  return close(foreignText(item['call_id']), memory, (callId, tool) => ({
    ...seen,
    kind: 'tool-end',
    callId,
    tool,
    ok,
    ...told({ output, error: ok ? undefined : text?.slice(0, 2000) }),
  }))
}

/** A finished command, with the exit code that the answer to the model has only as words. */
function commandEnd(item: Foreign, memory: TranscriptMemory, seen: Seen): readonly Signal[] {
  const code = foreignCount(item['exit_code'])
  const { secs, nanos } = foreign(item['duration'])
  const ok = code === 0
  return close(foreignText(item['id']), memory, (callId, tool) => ({
    ...seen,
    kind: 'tool-end',
    callId,
    tool,
    ok,
    durationMs: (foreignCount(secs) ?? 0) * 1000 + (foreignCount(nanos) ?? 0) / 1e6,
    ...told({
      output: foreignText(item['aggregated_output']),
      error: ok ? undefined : `exit code ${code ?? 'unknown'}`,
    }),
  }))
}

function close(
  callId: string | undefined,
  memory: TranscriptMemory,
  end: (callId: string, tool: string) => Signal,
): readonly Signal[] {
  const open = foreign(memory['open'])
  const tool = callId === undefined ? undefined : foreignText(open[callId])
  if (callId === undefined || tool === undefined) return []
  memory['open'] = Object.fromEntries(Object.entries(open).filter(([id]) => id !== callId))
  return [end(callId, tool)]
}

const nameOf = (item: Foreign): string | undefined =>
  foreignText(item['name']) ??
  (item['type'] === 'local_shell_call'
    ? 'shell'
    : item['type'] === 'web_search_call'
      ? 'web_search'
      : undefined)

/** Hooks call the command of a shell `command`; the model's own argument is `cmd`. */
function inputOf(item: Foreign): unknown {
  const text = foreignText(item['arguments'])
  const input = text === undefined ? (item['input'] ?? item['action']) : (foreignLine(text) ?? text)
  const { cmd, ...rest } = foreign(input)
  return typeof cmd === 'string' ? { command: cmd, ...rest } : input
}

type Usage = z.infer<typeof Tokens>

/** The tokens of one response: input is counted without what came from the cache or went into it. */
function codexTokens(usage: Foreign): Usage | undefined {
  const [input, output] = [foreignCount(usage['input_tokens']), foreignCount(usage['output_tokens'])]
  if (input === undefined || output === undefined) return undefined
  const cacheRead = foreignCount(usage['cached_input_tokens']) ?? 0
  const cacheWrite = foreignCount(usage['cache_write_input_tokens']) ?? 0
  return {
    input: Math.max(0, input - cacheRead - cacheWrite),
    output,
    cacheRead,
    cacheWrite,
    reasoning: foreignCount(usage['reasoning_output_tokens']) ?? 0,
    total: foreignCount(usage['total_tokens']) ?? input + output,
  }
}

/** A `token_usage_record` names its response: it alone is counted wherever there are any. */
function usageRecord(payload: Foreign, memory: TranscriptMemory, seen: Seen): readonly Signal[] {
  const responseId = foreignText(payload['response_id'])
  const usage = codexTokens(foreign(payload['usage']))
  if (responseId === undefined || usage === undefined) return []
  memory['hasRecords'] = true
  return [{ ...seen, kind: 'usage', responseId, model: foreignText(memory['model']) ?? 'unknown', usage }]
}

/**
 * Older versions only count: the same totals are written again when nothing was used, and the "last" usage stands
 * there as well. What a response used is therefore the difference between two totals.
 */
function usageCount(info: Foreign, memory: TranscriptMemory, seen: Seen): readonly Signal[] {
  if (memory['hasRecords'] === true) return []
  const total = foreign(info['total_token_usage'])
  const before = foreign(memory['total'])
  const spent = foreignCount(total['total_tokens'])
  if (spent === undefined || spent <= (foreignCount(before['total_tokens']) ?? 0)) return []
  memory['total'] = total
  const usage = codexTokens(
    Object.fromEntries(
      Object.entries(total).map(([name, value]) => [
        name,
        (foreignCount(value) ?? 0) - (foreignCount(before[name]) ?? 0),
      ]),
    ),
  )
  if (!usage) return []
  const responseId = `codex:${foreignText(memory['thread']) ?? ''}:${spent}`
  return [{ ...seen, kind: 'usage', responseId, model: foreignText(memory['model']) ?? 'unknown', usage }]
}

/** How full the context is and how much of the plan's allowances is used. */
function meterOf(payload: Foreign, seen: Seen): readonly Signal[] {
  const info = foreign(payload['info'])
  const window = foreignCount(info['model_context_window'])
  const used = foreignCount(foreign(info['last_token_usage'])['total_tokens'])
  const limits = ['primary', 'secondary'].flatMap((name) => {
    const limit = foreign(foreign(payload['rate_limits'])[name])
    const usedPercent = limit['used_percent']
    const resets = limit['resets_at']
    if (typeof usedPercent !== 'number') return []
    return [told({ name, usedPercent, resetsAtMs: typeof resets === 'number' ? resets * 1000 : undefined })]
  })
  const contextPercent = window && used !== undefined ? Math.min(100, (100 * used) / window) : undefined
  if (contextPercent === undefined && limits.length === 0) return []
  return [
    {
      ...seen,
      kind: 'meter',
      ...told({
        contextPercent,
        // A key has no allowances that are told as a share.
        ...(limits.length > 0 && { limits, billing: 'plan' as const }),
      }),
    },
  ]
}

const limits = new Set(['usage_limit_exceeded', 'rate_limit_exceeded', 'session_budget_exceeded'])

/** A turn that ended in an error. Codex fires no hook for it: the transcript alone tells. */
function turnFailed(error: Foreign, seen: Seen): SignalOf<'turn-failed'> {
  const info = error['codex_error_info']
  const [kind, details] =
    typeof info === 'string' ? [info, undefined] : (Object.entries(foreign(info))[0] ?? [])
  const status = foreignCount(foreign(details)['http_status_code'])
  const isLimit = (kind !== undefined && limits.has(kind)) || status === 429
  return {
    ...seen,
    kind: 'turn-failed',
    error: foreignText(error['message']) ?? kind ?? 'the turn failed',
    ...told({ status, limit: isLimit ? {} : undefined }),
  }
}
