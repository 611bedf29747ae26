import type { AgentEvent } from '../../contract/event.ts'
import type { RowOp, Upsert } from '../../contract/row-op.ts'
import { type Handlers, handle } from './handlers.ts'
import { oneLine } from './text.ts'

/** Runs of workflows by their id; a workflow ends once. */
export function workflowOps(event: AgentEvent, atMs: number): RowOp[] {
  const change = handle(changes, event, atMs)
  const id = 'workflowId' in event.payload ? event.payload.workflowId : undefined
  if (change === undefined || id === undefined) return []
  const { seq, sessionId, runId, traceId } = event
  // A workflow that was told of by others may have no beginning.
  const where = { seq, sessionId, runId, traceId, ...(change.set?.status ? {} : { status: 'running' }) }
  return [{ op: 'upsert', table: 'workflows', key: [id], ...change, keep: { ...where, ...change.keep } }]
}

type Change = Pick<Upsert<'workflows'>, 'set' | 'keep' | 'add' | 'unless'>

const changes: Handlers<Change> = {
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
  'workflow.finalized': ({ payload }, atMs) => ({
    set: {
      status: 'completed',
      endedMs: atMs,
      totalAgents: payload.totalAgents,
      totalTokens: payload.totalTokens,
    },
    unless: 'endedMs',
  }),
  'workflow.failed': ({ payload }, atMs) => ({
    set: {
      status: 'failed',
      endedMs: atMs,
      totalAgents: payload.totalAgents,
      totalTokens: payload.totalTokens,
      detail: oneLine(payload.reason ?? payload.error, 400),
    },
    unless: 'endedMs',
  }),
  'workflow.cancelled': ({ payload }, atMs) => ({
    set: { status: 'cancelled', endedMs: atMs, detail: oneLine(payload.reason, 400) },
    unless: 'endedMs',
  }),
}
