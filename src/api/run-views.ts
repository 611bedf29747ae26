import type { AgentEvent } from '../contract/event.ts'
import type { RunRow } from '../contract/index-rows.ts'
import type { AgentContext, AgentRunRecord, ReplayView, TreeNode } from '../contract/runtime-routes.ts'
import type { Replay } from '../runtime/replay/replay.ts'
import { textOf } from './session-views.ts'

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

/** Times are seconds in the runtime contract. */
const seconds = (ms: number): number => ms / 1000

/** A run under the names of the runtime contract. */
export const runRecord = (row: RunRow): AgentRunRecord => ({
  run_id: row.runId,
  repo_path: row.repoPath ?? '',
  session_id: row.sessionId,
  agent_id: row.agentId ?? 'agent',
  agent_kind: row.kind,
  ...(row.parentRunId && { parent_run_id: row.parentRunId }),
  status: row.status,
  ...(row.detail && { detail: row.detail }),
  started_at: seconds(row.startedMs),
  ...(row.endedMs !== null && { ended_at: seconds(row.endedMs) }),
})

/** A replay as it is answered; it never holds a text of the vault. */
export function replayView(replay: Replay): ReplayView {
  const runs = runsOf(replay)
  const isSame = runs.every(({ differences }) => differences.length === 0)
  return { verdict: !isSame ? 'different' : replay.record.isExact ? 'exact' : 'inexact', runs }
}

function runsOf({ record, end, differences, children }: Replay, parent?: Replay): ReplayView['runs'] {
  const turns = record.acts.filter((act) => act.kind === 'turn')
  const run: ReplayView['runs'][number] = {
    run_id: record.runId,
    ...(parent && { parent_run_id: parent.record.runId }),
    agent_id: record.agent,
    steps: turns.map(({ seq, turn }, i) => ({
      step: i + 1,
      seq,
      calls: turn.parts.flatMap((part) => (part.kind === 'call' ? [part.tool] : [])),
    })),
    recorded_end: record.end?.status ?? 'running',
    replayed_end: end?.status ?? 'cut off',
    differences: [...differences],
  }
  return [run, ...children.flatMap((child) => runsOf(child, { ...child, record }))]
}

/** A file that a running agent is touching. */
type Touched = { readonly path: string; readonly agent: string; readonly atMs: number }

/** The touched files of a project as folders and files; one that two agents touch shows the last of them. */
export function workspaceTree(root: string, touched: readonly Touched[]): TreeNode {
  const tree: TreeNode = { type: 'dir', path: root, children: [] }
  for (const { path, agent, atMs } of touched.toSorted((a, b) => a.atMs - b.atMs)) {
    const inside = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
    const names = inside.split('/').filter((name) => name !== '' && name !== '.')
    if (names.length === 0 || names.includes('..') || inside.startsWith('/')) continue
    let node = tree
    for (const i of names.keys()) {
      const isFile = i === names.length - 1
      const at = names.slice(0, i + 1).join('/')
      node.children ??= []
      let next = node.children.find((child) => child.path === at)
      if (!next) {
        next = isFile ? { type: 'file', path: at } : { type: 'dir', path: at, children: [] }
        node.children.push(next)
      }
      if (isFile) Object.assign(next, { agent, status: 'working', last_modified: seconds(atMs) })
      node = next
    }
  }
  return tree
}
