import type { Draft, EventType } from '../../contract/event.ts'

/** What a span is about; each kind has its own ways to begin and to end. */
export type SpanKind =
  | 'session'
  | 'agent'
  | 'task'
  | 'tool'
  | 'llm'
  | 'message'
  | 'approval'
  | 'effect'
  | 'workflow'
  | 'phase'
  | 'node'
  | 'round'
  | 'handoff'

/** Which kind of span a type opens or closes; types that are points inside a span are absent. */
export const spanKindOf: Partial<Record<EventType, SpanKind>> = {
  'session.started': 'session',
  'session.reopened': 'session',
  'session.completed': 'session',
  'session.failed': 'session',
  'agent.spawned': 'agent',
  'agent.completed': 'agent',
  'agent.failed': 'agent',
  'agent.cancelled': 'agent',
  'agent.killed': 'agent',
  'agent.abandoned': 'agent',
  'agent.task.assigned': 'task',
  'task.completed': 'task',
  'task.failed': 'task',
  'task.cancelled': 'task',
  'tool.call.started': 'tool',
  'tool.call.completed': 'tool',
  'tool.call.failed': 'tool',
  'tool.call.denied': 'tool',
  'llm.request.started': 'llm',
  'llm.request.completed': 'llm',
  'llm.request.failed': 'llm',
  'message.queued': 'message',
  'message.accepted': 'message',
  'message.failed': 'message',
  'approval.requested': 'approval',
  'approval.granted': 'approval',
  'approval.rejected': 'approval',
  'approval.expired': 'approval',
  'effect.intended': 'effect',
  'effect.done': 'effect',
  'effect.unknown': 'effect',
  'workflow.started': 'workflow',
  'workflow.finalized': 'workflow',
  'workflow.failed': 'workflow',
  'workflow.cancelled': 'workflow',
  'workflow.phase.started': 'phase',
  'workflow.phase.completed': 'phase',
  'workflow.phase.failed': 'phase',
  'workflow.node.enter': 'node',
  'workflow.node.exit': 'node',
  'loop.round.started': 'round',
  'loop.round.completed': 'round',
  'handoff.requested': 'handoff',
  'handoff.accepted': 'handoff',
  'handoff.rejected': 'handoff',
}

/** What of a starting event its forced ending must repeat. */
export type ClosingFacts = Readonly<Record<string, unknown>>

const repeated: Record<SpanKind, readonly string[]> = {
  session: [],
  agent: ['agentId'],
  task: ['agentId'],
  tool: ['callId', 'tool'],
  llm: ['model'],
  message: ['messageId'],
  approval: ['approvalId', 'subject'],
  effect: ['effectId', 'effect'],
  workflow: ['workflowId'],
  phase: ['workflowId', 'phase'],
  node: ['workflowId', 'node'],
  round: ['round', 'maxRounds', 'taskId'],
  handoff: ['from', 'to'],
}

export function closingFacts(event: Draft): ClosingFacts {
  const kind = spanKindOf[event.type]
  const facts: Record<string, unknown> = {}
  if (kind === undefined) return facts
  const payload = event.payload as Record<string, unknown>
  for (const name of repeated[kind]) if (payload[name] !== undefined) facts[name] = payload[name]
  return facts
}

/** How an open span is ended by what ended above it. */
export function forcedEnding(
  kind: Exclude<SpanKind, 'session'>,
  facts: ClosingFacts,
  { reason, cancelled }: { reason: string; cancelled: boolean },
): Pick<Draft, 'type' | 'payload'> {
  const ended = (type: EventType, extra: Record<string, unknown>) =>
    ({ type, payload: { ...facts, ...extra } }) as Pick<Draft, 'type' | 'payload'>
  switch (kind) {
    case 'agent':
      return ended(cancelled ? 'agent.cancelled' : 'agent.abandoned', { reason })
    case 'task':
      return ended('task.cancelled', { reason })
    case 'tool':
      return ended('tool.call.failed', { reason })
    case 'llm':
      return ended('llm.request.failed', { error: reason })
    case 'message':
      return ended('message.failed', { errorType: 'gone', reason })
    case 'approval':
      return ended('approval.expired', { reason })
    case 'effect':
      return ended('effect.unknown', { reason })
    case 'workflow':
      return cancelled ? ended('workflow.cancelled', { reason }) : ended('workflow.failed', { error: reason })
    case 'phase':
      return ended('workflow.phase.failed', { error: reason })
    case 'node':
      return ended('workflow.node.exit', { outcome: 'cancelled' })
    case 'round':
      return ended('loop.round.completed', { reason })
    case 'handoff':
      return ended('handoff.rejected', { reason })
    default:
      return unreachable(kind)
  }
}

function unreachable(kind: never): never {
  throw new Error(`no forced ending for ${String(kind)}`)
}
