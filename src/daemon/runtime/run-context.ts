import type { AgentEvent } from '../../contract/event.ts'
import type { RunRow } from '../../contract/index-rows.ts'
import type { AgentContext } from '../../contract/runtime-routes.ts'
import { textOf } from '../sessions/text-of.ts'
import { runRecord, seconds } from './run-record.ts'

type Message = NonNullable<AgentContext['messages']>[number]
type ToolRow = NonNullable<AgentContext['tools']>[number]
type Artifact = NonNullable<AgentContext['artifacts']>[number]

type Wanted = {
  readonly view: 'summary' | 'raw'
  readonly slice?: 'messages' | 'tools' | 'artifacts' | undefined
}

/** A run by its own events; nothing is chosen by time, so that runs side by side are not mixed. */
export function runContext(
  row: RunRow,
  { events, said }: { readonly events: readonly AgentEvent[]; readonly said: ReadonlyMap<string, string> },
  { view, slice }: Wanted,
): AgentContext {
  // What began the run stands in its beginning; only what came after it was said besides.
  const begun = events.findIndex(({ type }) => type === 'agent.spawned')
  const messages = events.slice(Math.max(0, begun)).flatMap((event) => messageOf(row, event, said))
  const count = (role: Message['role']) => messages.filter((message) => message.role === role).length
  const has = (part: Wanted['slice']) => slice === part || (slice === undefined && view === 'raw')
  return {
    run: runRecord(row),
    summary: {
      message_count: messages.length,
      user_messages: count('user'),
      agent_messages: count('agent'),
      system_messages: count('system'),
      started_at: seconds(row.startedMs),
      ...(row.endedMs !== null && { ended_at: seconds(row.endedMs) }),
    },
    ...(has('messages') && { messages }),
    ...(has('tools') && { tools: toolRows(events) }),
    ...(has('artifacts') && { artifacts: events.flatMap(artifactsOf) }),
  }
}

function messageOf(row: RunRow, event: AgentEvent, said: ReadonlyMap<string, string>): Message[] {
  const agent = row.agentId ?? 'agent'
  const told = (role: Message['role'], more: Pick<Message, 'from' | 'to' | 'content'>): Message[] => [
    { role, ...more, timestamp: event.timestamp },
  ]
  switch (event.type) {
    case 'agent.spawned': {
      const from = event.parentRunId ? 'parent' : 'user'
      return told('user', { from, to: agent, content: textOf(event.payload.agentTask ?? '') })
    }
    case 'message.accepted': {
      const content = said.get(event.payload.messageId)
      return content === undefined ? [] : told('user', { from: 'user', to: agent, content })
    }
    case 'agent.message.created': {
      const { from, to, text = '' } = event.payload
      return told('agent', { from: from.agentId, to: to.agentId, content: textOf(text) })
    }
    case 'context.compacted':
      return told('system', { from: agent, to: agent, content: textOf(event.payload.summary ?? '') })
    case 'agent.failed':
      return told('system', { from: 'muster', to: agent, content: event.payload.reason ?? 'failed' })
    case 'agent.cancelled':
    case 'agent.killed':
      return told('system', {
        from: event.payload.by ?? 'muster',
        to: agent,
        content: event.payload.reason ?? '',
      })
    default:
      return []
  }
}

function toolRows(events: readonly AgentEvent[]): ToolRow[] {
  const rows = new Map<string, ToolRow>()
  for (const event of events) {
    if (event.type === 'tool.call.started') {
      const { callId, tool } = event.payload
      rows.set(event.spanId, { call_id: callId, tool, status: 'running', started_at: event.timestamp })
    } else if (
      event.type === 'tool.call.completed' ||
      event.type === 'tool.call.failed' ||
      event.type === 'tool.call.denied'
    ) {
      const { callId, tool } = event.payload
      const known = rows.get(event.spanId) ?? { call_id: callId, tool, started_at: event.timestamp }
      const status = event.type.slice('tool.call.'.length) as ToolRow['status']
      const detail = detailOf(event)
      rows.set(event.spanId, {
        ...known,
        status,
        ...(detail && { detail }),
        ...('durationMs' in event.payload &&
          event.payload.durationMs !== undefined && { duration_ms: event.payload.durationMs }),
      })
    }
  }
  return [...rows.values()]
}

function detailOf(
  event: Extract<AgentEvent, { type: 'tool.call.completed' | 'tool.call.failed' | 'tool.call.denied' }>,
): string | undefined {
  if (event.type === 'tool.call.denied') return textOf(event.payload.reason)
  const { result, error } = event.payload
  if (typeof error === 'string') return error
  const display =
    typeof result === 'object' && result !== null && 'display' in result ? result.display : undefined
  return typeof display === 'string' ? display : undefined
}

function artifactsOf(event: AgentEvent): Artifact[] {
  const { timestamp } = event
  if (event.type === 'patch.created')
    return event.payload.files.map(({ path, change }) => ({
      kind: 'file',
      name: path,
      detail: change,
      timestamp,
    }))
  if (event.type === 'plan.created') {
    const { plan } = event.payload
    return [
      {
        kind: 'plan',
        name: 'plan',
        detail: typeof plan === 'string' ? plan : JSON.stringify(plan),
        timestamp,
      },
    ]
  }
  if (event.type === 'blackboard.item.created')
    return [{ kind: 'blackboard', name: event.payload.itemId, detail: event.payload.itemType, timestamp }]
  if (event.type !== 'agent.completed') return []
  const { output } = event.payload
  const packet =
    typeof output === 'object' && output !== null && 'packet' in output ? output.packet : undefined
  return packet === undefined
    ? []
    : [{ kind: 'packet', name: 'packet', detail: JSON.stringify(packet), timestamp }]
}
