import type { AgentEvent } from '../../contract/event.ts'
import type { SpanStatus } from '../../contract/index-rows.ts'
import type { Values } from '../../contract/index-tables.ts'
import { type Handlers, handle } from './handlers.ts'
import { oneLine } from './text.ts'

/** How the span of an end event ended, why, and how long it says it took. */
export function spanEnd(event: AgentEvent, atMs: number): Values<'spans'> {
  const status = endStatus(event)
  const { durationMs } = event.payload as { durationMs?: unknown }
  return {
    endType: event.type,
    endedMs: atMs,
    status,
    detail: status === 'ok' ? undefined : reasonOf(event.payload),
    durationMs: typeof durationMs === 'number' ? durationMs : undefined,
  }
}

/** How an end event leaves its span. */
export function endStatus(event: AgentEvent): SpanStatus {
  return handle(statuses, event, 0) ?? 'ok'
}

function reasonOf(payload: object): string | undefined {
  const { reason, error, detail, message } = payload as Record<string, unknown>
  return oneLine(reason ?? error ?? detail ?? message)
}

const outcomes = {
  completed: 'ok',
  cancelled: 'cancelled',
  killed: 'killed',
  abandoned: 'abandoned',
} as const
const exits = { ok: 'ok', failed: 'error', skipped: 'skipped', cancelled: 'cancelled' } as const

// An end that is not here ended well.
const statuses: Handlers<SpanStatus> = {
  'session.completed': ({ payload }) => outcomes[payload.outcome],
  'session.failed': () => 'error',
  'agent.failed': () => 'error',
  'agent.cancelled': () => 'cancelled',
  'agent.killed': () => 'killed',
  'agent.abandoned': () => 'abandoned',
  'task.failed': () => 'error',
  'task.cancelled': () => 'cancelled',
  'handoff.rejected': () => 'rejected',
  'tool.call.failed': () => 'error',
  'tool.call.denied': () => 'denied',
  'llm.request.failed': () => 'error',
  'message.failed': () => 'error',
  'approval.rejected': () => 'rejected',
  'approval.expired': () => 'expired',
  'effect.unknown': () => 'unknown',
  'workflow.failed': () => 'error',
  'workflow.cancelled': () => 'cancelled',
  'workflow.phase.failed': () => 'error',
  'workflow.node.exit': ({ payload }) => exits[payload.outcome],
}
