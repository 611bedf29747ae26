import { catalogue, type Draft, type EventType } from '../../contract/event.ts'
import type { SpanKind } from '../../contract/event-definition.ts'

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
  const kind = catalogue[event.type].spanKind
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

/** How a run can end. */
export const agentEndTypes = [
  'agent.completed',
  'agent.failed',
  'agent.cancelled',
  'agent.killed',
  'agent.abandoned',
] as const satisfies readonly EventType[]

/** How a run or a session can end. */
export const endTypes = [
  ...agentEndTypes,
  'session.completed',
  'session.failed',
] as const satisfies readonly EventType[]
