import type { AgentEvent, EventOf } from '../../contract/event.ts'
import type { RowOp, Upsert, Values } from '../../contract/row-op.ts'
import { type workflowEnds, workflowOutcome } from '../collaboration/workflow-outcome.ts'
import { type Handlers, handle } from './event-handlers.ts'
import { listText, oneLine } from './row-text.ts'

/** Tasks by (trace, task id): the events of one task share a span, and task ids recur in other traces. */
export function taskOps(event: AgentEvent, atMs: number): RowOp[] {
  return handle(taskChanges, event, atMs) ?? []
}

const taskChanges: Handlers<RowOp[]> = {
  'plan.created': (event) =>
    (event.payload.tasks ?? []).map((task) =>
      taskUpsert(event, task.taskId, {
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
    return [taskUpsert(event, payload.taskId, { set, keep: { assignedMs: atMs }, add: { assignments: 1 } })]
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
    return [
      taskUpsert(event, taskId, { set: { verdict }, keep: { sessionId: event.sessionId }, max: { round } }),
    ]
  },
}

function ending(
  event: EventOf<'task.completed' | 'task.failed' | 'task.cancelled'>,
  set: Values<'tasks'>,
): RowOp[] {
  // An end names its task in the envelope; without one there is no row to close.
  if (event.taskId === undefined) return []
  const keep = { sessionId: event.sessionId, runId: event.runId, agentId: event.payload.agentId }
  return [taskUpsert(event, event.taskId, { set, keep })]
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

type TaskChange = Pick<Upsert<'tasks'>, 'set' | 'keep' | 'add' | 'max'>

function taskUpsert(event: AgentEvent, taskId: string, change: TaskChange): RowOp {
  return {
    op: 'upsert',
    table: 'tasks',
    key: [event.traceId, taskId],
    ...change,
    keep: { firstSeq: event.seq, ...change.keep },
  }
}

/** Runs of workflows by their id; a workflow ends once. */
export function workflowOps(event: AgentEvent, atMs: number): RowOp[] {
  const change = handle(workflowChanges, event, atMs)
  const id = 'workflowId' in event.payload ? event.payload.workflowId : undefined
  if (change === undefined || id === undefined) return []
  const { seq, sessionId, runId, traceId } = event
  // A workflow that was told of by others may have no beginning.
  const where = { seq, sessionId, runId, traceId, ...(change.set?.status ? {} : { status: 'running' }) }
  const op: RowOp = {
    op: 'upsert',
    table: 'workflows',
    key: [id],
    ...change,
    keep: { ...where, ...change.keep },
  }
  return [op, ...notLanded(id, change)]
}

/** Work that does not land is not done, whatever its reviewer said: landing was a workflow of its own. */
function notLanded(id: string, { set }: WorkflowChange): RowOp[] {
  if (!id.endsWith(landing) || set?.endedMs === undefined || set.status === 'completed') return []
  const { status, detail } = set
  const crew = id.slice(0, -landing.length)
  return [{ op: 'upsert', table: 'workflows', key: [crew], set: { status, detail } }]
}

const landing = '.land'

type WorkflowChange = Pick<Upsert<'workflows'>, 'set' | 'keep' | 'add' | 'unless'>

const workflowChanges: Handlers<WorkflowChange> = {
  'workflow.started': ({ payload }, atMs) => ({
    keep: {
      name: payload.name,
      version: payload.version,
      inputDigest: payload.inputDigest,
      forkOf: payload.forkOf?.workflowId,
      startedMs: atMs,
    },
  }),
  'workflow.phase.started': ({ payload }) => ({ set: { phase: payload.phase }, unless: 'endedMs' }),
  'workflow.checkpoint.saved': ({ payload }) => ({ add: { steps: payload.step === undefined ? 0 : 1 } }),
  'workflow.finalized': ended,
  'workflow.failed': ended,
  'workflow.cancelled': ended,
}

function ended(event: EventOf<(typeof workflowEnds)[number]>, atMs: number): WorkflowChange {
  const { outcome, why } = workflowOutcome(event)
  const set = { status: outcome, endedMs: atMs, detail: oneLine(why, 400) }
  if (event.type === 'workflow.cancelled') return { set, unless: 'endedMs' }
  const { totalAgents, totalTokens } = event.payload
  return { set: { ...set, totalAgents, totalTokens }, unless: 'endedMs' }
}
