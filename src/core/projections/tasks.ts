import type { AgentEvent, EventOf } from '../../contract/event.ts'
import type { Values } from '../../contract/index-tables.ts'
import type { RowOp, Upsert } from '../../contract/row-op.ts'
import { type Handlers, handle } from './handlers.ts'
import { clip, oneLine } from './text.ts'

/** Tasks by (trace, task id): the events of one task share a span, and task ids recur in other traces. */
export function taskOps(event: AgentEvent, atMs: number): RowOp[] {
  return handle(changes, event, atMs) ?? []
}

const changes: Handlers<RowOp[]> = {
  'plan.created': (event) =>
    (event.payload.tasks ?? []).map((task) =>
      upsert(event, task.taskId, {
        keep: { ...assignment(task), sessionId: event.sessionId, status: 'planned' },
      }),
    ),
  'agent.task.assigned': (event, atMs) => {
    const { payload } = event
    const set = {
      ...assignment(payload),
      sessionId: event.sessionId,
      runId: event.runId,
      spanId: event.spanId,
      agentId: payload.agentId,
      assignedBy: payload.assignedBy,
      status: 'assigned',
      endedMs: null,
    }
    return [upsert(event, payload.taskId, { set, keep: { assignedMs: atMs }, add: { assignments: 1 } })]
  },
  'task.completed': (event, atMs) =>
    ending(event, { status: 'completed', summary: oneLine(event.payload.summary), endedMs: atMs }),
  'task.failed': (event, atMs) =>
    ending(event, {
      status: 'failed',
      summary: oneLine(event.payload.reason ?? event.payload.error),
      errorType: event.payload.errorType,
      endedMs: atMs,
    }),
  'task.cancelled': (event, atMs) =>
    ending(event, { status: 'cancelled', summary: oneLine(event.payload.reason), endedMs: atMs }),
  'loop.round.completed': (event) => {
    const taskId = event.payload.taskId ?? event.taskId
    if (taskId === undefined) return []
    const { round, verdict } = event.payload
    return [upsert(event, taskId, { set: { verdict }, keep: { sessionId: event.sessionId }, max: { round } })]
  },
}

function ending(
  event: EventOf<'task.completed' | 'task.failed' | 'task.cancelled'>,
  set: Values<'tasks'>,
): RowOp[] {
  // An end names its task in the envelope; without one there is no row to close.
  if (event.taskId === undefined) return []
  const keep = { sessionId: event.sessionId, runId: event.runId, agentId: event.payload.agentId }
  return [upsert(event, event.taskId, { set, keep })]
}

type Assigned = {
  readonly description: unknown
  readonly priority?: string | undefined
  readonly dependencies?: readonly string[] | undefined
}

function assignment(task: Assigned): Values<'tasks'> {
  return {
    description: oneLine(task.description, 400),
    priority: task.priority,
    dependencies: task.dependencies === undefined ? undefined : listText(task.dependencies),
  }
}

/** A list as JSON of bounded length: whole items or none, so that it can be parsed again. */
export function listText(items: readonly string[], max = 2048): string {
  const kept: string[] = []
  let left = max
  for (const item of items) {
    const text = clip(item, 200)
    left -= text.length + 3
    if (left < 0) break
    kept.push(text)
  }
  return JSON.stringify(kept)
}

type Change = Pick<Upsert<'tasks'>, 'set' | 'keep' | 'add' | 'max'>

function upsert(event: AgentEvent, taskId: string, change: Change): RowOp {
  return {
    op: 'upsert',
    table: 'tasks',
    key: [event.traceId, taskId],
    ...change,
    keep: { firstSeq: event.seq, ...change.keep },
  }
}
