import {
  type Foreign,
  foreign,
  foreignText,
  foreignTime,
  told,
} from '../../../contract/formats/foreign-json.ts'
import type { Signal } from '../../../contract/signal.ts'
import { openCodeAsked } from './asked.ts'
import { openCodeError } from './failure.ts'
import { openCodeTool } from './tools.ts'
import { openCodeUsage } from './usage.ts'

/** What the plugin tells; each payload has the time at which it was made, for some come late. */
export function openCodeHook(payload: unknown, at: number): readonly Signal[] {
  const hook = foreign(payload)
  const seen = told({
    source: 'hook' as const,
    at: foreignTime(hook['at']) ?? at,
    agent: foreignText(hook['agent']),
  })
  switch (hook['event']) {
    case 'init':
      return [{ ...seen, kind: 'ready', reason: 'startup', ...told({ cwd: foreignText(hook['directory']) }) }]
    case 'session.created':
      return created(foreign(hook['info']), hook['isFirst'] === true, seen)
    case 'chat.message':
      return hook['isQueued'] === true
        ? [{ ...seen, kind: 'prompt-queued', ...told({ text: foreignText(hook['text']) }) }]
        : [{ ...seen, kind: 'prompt', ...promptOf(hook, seen) }]
    case 'tool.before':
      return toolStart(hook, seen)
    case 'message.part.updated':
      return part(foreign(hook['part']), seen)
    case 'message.updated':
      return openCodeUsage(foreign(hook['info']), seen)
    case 'session.status':
      return retry(foreign(hook['status']), seen)
    case 'session.idle':
      return idle(hook, seen)
    case 'session.error':
      return openCodeError(foreign(hook['error']), seen)
    case 'session.compacted':
      return [{ ...seen, kind: 'compacted' }]
    case 'permission.asked':
    case 'question.asked':
      return [{ ...seen, kind: 'asking', ...openCodeAsked(hook) }]
    default:
      return []
  }
}

type Seen = { readonly source: 'hook'; readonly at: number; readonly agent?: string }

/** A session with a parent is a subagent's; the first without one is the conversation, later ones are `/new`. */
function created(info: Foreign, isFirst: boolean, seen: Seen): readonly Signal[] {
  const id = foreignText(info['id'])
  if (id === undefined) return []
  const agentType = foreignText(info['agent']) ?? 'subagent'
  if (seen.agent !== undefined) {
    const description = foreignText(info['title'])
    return [
      {
        source: 'hook',
        at: seen.at,
        kind: 'subagent-start',
        agentId: id,
        agentType,
        ...told({ description }),
      },
    ]
  }
  const known = {
    model: foreignText(foreign(info['model'])['id']),
    cwd: foreignText(info['directory']),
    version: foreignText(info['version']),
  }
  const reason = isFirst ? 'startup' : 'clear'
  return [{ ...seen, kind: 'ready', reason, foreignId: id, ...told(known) }]
}

const promptOf = (hook: Foreign, seen: Seen) => ({
  origin: seen.agent === undefined ? ('person' as const) : ('task' as const),
  ...told({ text: foreignText(hook['text']), promptId: foreignText(hook['id']) }),
})

function toolStart(hook: Foreign, seen: Seen): readonly Signal[] {
  const [callId, tool] = [foreignText(hook['callID']), foreignText(hook['tool'])]
  if (callId === undefined || tool === undefined) return []
  return [{ ...seen, kind: 'tool-start', callId, tool: openCodeTool(tool), ...told({ input: hook['args'] }) }]
}

function part(done: Foreign, seen: Seen): readonly Signal[] {
  const text = foreignText(done['text'])
  if (done['type'] === 'text')
    return text === undefined
      ? []
      : [{ ...seen, kind: 'text', text, ...told({ messageId: foreignText(done['messageID']) }) }]
  const [callId, tool] = [foreignText(done['callID']), foreignText(done['tool'])]
  const state = foreign(done['state'])
  const { start, end } = foreign(state['time'])
  if (done['type'] !== 'tool' || callId === undefined || tool === undefined) return []
  const exit = foreign(state['metadata'])['exit']
  const isFailed = typeof exit === 'number' && exit !== 0
  const error = foreignText(state['error']) ?? (isFailed ? `exit code ${exit}` : undefined)
  return [
    {
      ...seen,
      kind: 'tool-end',
      callId,
      tool: openCodeTool(tool),
      ok: state['status'] === 'completed' && !isFailed,
      ...told({
        output: foreignText(state['output']),
        error,
        durationMs:
          typeof start === 'number' && typeof end === 'number' ? Math.max(0, end - start) : undefined,
      }),
    },
  ]
}

const retry = (status: Foreign, seen: Seen): readonly Signal[] =>
  status['type'] === 'retry'
    ? [
        {
          ...seen,
          kind: 'retrying',
          ...told({
            attempt: typeof status['attempt'] === 'number' ? status['attempt'] : undefined,
            error: foreignText(status['message']),
          }),
        },
      ]
    : []

function idle(hook: Foreign, seen: Seen): readonly Signal[] {
  const text = told({ text: foreignText(hook['text']) })
  const end: Signal = { ...seen, kind: 'turn-end', background: 0, ...text }
  if (seen.agent === undefined) return [end]
  return [end, { source: 'hook', at: seen.at, kind: 'subagent-end', agentId: seen.agent, ...text }]
}
