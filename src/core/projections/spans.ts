import { type AgentEvent, catalogue } from '../../contract/event.ts'
import type { Values } from '../../contract/index-tables.ts'
import type { RowOp } from '../../contract/row-op.ts'
import { placeOf } from './place.ts'
import { spanEnd } from './span-end.ts'
import { spanName } from './span-name.ts'
import { titleOf } from './title.ts'

/** Opens or closes the span of an event; points inside a span leave it alone. */
export function spanOps(event: AgentEvent, atMs: number): RowOp[] {
  const role = catalogue[event.type]?.span
  if (role === 'start') return [open(event, atMs)]
  if (role === 'end') return [close(event, atMs)]
  return []
}

function open(event: AgentEvent, atMs: number): RowOp {
  return {
    op: 'upsert',
    table: 'spans',
    key: [event.traceId, event.spanId],
    keep: { ...identity(event), type: event.type, title: titleOf(event), startedMs: atMs },
    // The start may come after the end: then the span was closed without one until now.
    set: { orphan: 0 },
  }
}

function close(event: AgentEvent, atMs: number): RowOp {
  return {
    op: 'upsert',
    table: 'spans',
    key: [event.traceId, event.spanId],
    unless: 'endType',
    keep: { ...identity(event), title: titleOf(event), orphan: 1 },
    set: { endType: event.type, endedMs: atMs, ...spanEnd(event) },
  }
}

function identity(event: AgentEvent): Values<'spans'> {
  return {
    seq: event.seq,
    parentSpanId: event.parentSpanId,
    sessionId: event.sessionId,
    runId: event.runId,
    taskId: event.taskId,
    actor: event.actor,
    ...placeOf(event),
    ...spanName(event),
  }
}
