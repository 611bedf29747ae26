import { type AgentEvent, type EventType, isReport } from '../../contract/event.ts'
import { fleet, shortId } from '../../contract/ids.ts'
import type { Amounts, RowOp, Values } from '../../contract/row-op.ts'
import type { Lifecycle } from '../../contract/values.ts'
import { type Handlers, handle } from './event-handlers.ts'
import { oneLine } from './row-text.ts'

type Change = { readonly set?: Values<'sessions'>; readonly keep?: Values<'sessions'> }

/** Every event of a session touches its row; some say more of it. */
export function sessionOps(event: AgentEvent, atMs: number): RowOp[] {
  if (event.sessionId === fleet.sessionId) return []
  const key = [event.sessionId]
  const ops: RowOp[] = [
    {
      op: 'upsert',
      table: 'sessions',
      key,
      keep: {
        shortId: shortId(event.sessionId),
        firstSeq: event.seq,
        firstMs: atMs,
        lastMs: atMs,
        traceId: event.traceId,
      },
      set: { lastSeq: event.seq, lastType: event.type },
      ...(isActivity(event) && { max: { lastMs: atMs } }),
      add: handle(counts, event, atMs) ?? one,
    },
  ]
  const change = handle(changes, event, atMs)
  if (change !== undefined) ops.push({ op: 'upsert', table: 'sessions', key, ...change })
  return ops
}

const one = { events: 1 } as const

/** What is done or noticed around a session while it does nothing itself: a start of the daemon writes some of it. */
const upkeep: ReadonlySet<EventType> = new Set<EventType>([
  'session.launched',
  'session.updated',
  'session.archived',
  'signal.changed',
  'effect.intended',
  'effect.done',
  'effect.unknown',
  'message.queued',
  'message.delivered',
  // That a prompt was taken is told by the turn that begins with it; its receipt may come with a later daemon.
  'message.accepted',
  'message.failed',
  'approval.expired',
  'agent.idle',
  'limit.refused',
  'budget.warning',
  'budget.exceeded',
  'settings.updated',
  'queue.updated',
])

const working: ReadonlySet<Lifecycle | undefined> = new Set<Lifecycle>(['running', 'waiting_input'])

/** Whether the session did something, as opposed to being looked at, renamed or started again. */
function isActivity(event: AgentEvent): boolean {
  if (event.type !== 'session.state.changed') return !upkeep.has(event.type)
  const { from, to } = event.payload
  return from !== to && (working.has(from) || working.has(to))
}

const counts: Handlers<Amounts<'sessions'>> = {
  'agent.spawned': () => ({ events: 1, agents: 1 }),
  'agent.message.created': () => ({ events: 1, messages: 1 }),
  'tool.call.completed': () => ({ events: 1, toolCompleted: 1 }),
  'tool.call.failed': () => ({ events: 1, toolFailed: 1 }),
  'tool.call.denied': () => ({ events: 1, toolDenied: 1 }),
  'handoff.requested': () => ({ events: 1, handoffs: 1 }),
  'handoff.loop_detected': () => ({ events: 1, handoffLoops: 1 }),
}

const ended = new Set<Lifecycle>(['completed', 'error', 'abandoned', 'killed', 'cancelled'])

const changes: Handlers<Change> = {
  'session.started': ({ payload, by, parentRunId }, atMs) => ({
    set: {
      name: payload.name,
      title: payload.title === undefined ? undefined : oneLine(payload.title),
      prompt: oneLine(payload.prompt ?? payload.description),
      parentId: payload.parentSessionId,
      parentRunId,
      agentId: payload.agent?.agentId,
      agentType: payload.agent?.agentType,
      model: payload.model,
      cli: payload.cli,
      workingDir: payload.workingDir,
      origin: isReport({ by }) ? 'imported' : payload.origin,
      foreignId: payload.foreignId,
      mode: payload.collaboration?.mode,
      pattern: payload.collaboration?.pattern,
      lifecycle: payload.origin === 'managed' && !isReport({ by }) ? 'spawned' : 'running',
      friendlyName: payload.friendlyName,
      depth: payload.depth,
      permissionMode: payload.permissionMode,
    },
    keep: { startedMs: atMs },
  }),
  'session.launched': ({ payload, by }) => ({
    set: {
      tmuxSession: payload.tmuxSession,
      foreignId: payload.foreignId,
      cli: payload.cli,
      origin: isReport({ by }) ? undefined : 'managed',
    },
  }),
  'session.updated': ({ payload }) => ({
    set: {
      friendlyName: payload.friendlyName,
      task: payload.task,
      parentId: payload.parentSessionId,
      depth: payload.depth,
      foreignId: payload.foreignId,
      model: payload.model,
      permissionMode: payload.permissionMode,
    },
  }),
  'session.completed': ({ payload }, atMs) => ({
    set: {
      lifecycle: payload.outcome,
      endedMs: atMs,
      completion: oneLine(payload.message) ?? null,
      detail: oneLine(payload.reason ?? payload.message) ?? null,
    },
  }),
  'session.failed': ({ payload }, atMs) => ({
    set: {
      lifecycle: 'error',
      endedMs: atMs,
      completion: oneLine(payload.message) ?? null,
      detail: oneLine(payload.error ?? payload.reason ?? payload.message) ?? null,
      outcome: payload.outcome,
    },
  }),
  'session.reopened': ({ payload }) => ({
    set: {
      lifecycle: 'running',
      endedMs: null,
      completion: null,
      outcome: null,
      detail: oneLine(payload.reason) ?? null,
    },
  }),
  'session.state.changed': ({ payload }, atMs) => ({
    set: {
      lifecycle: payload.to,
      activity: payload.activity,
      // What it waited for is over with the state in which it did.
      detail: oneLine(payload.detail) ?? null,
    },
    keep: ended.has(payload.to) ? { endedMs: atMs } : {},
  }),
  // The first prompt is what a session is about, when it was begun without one.
  'agent.spawned': ({ parentRunId, payload }) =>
    parentRunId === undefined ? { keep: { prompt: oneLine(payload.agentTask) } } : {},
  // A subagent's activity is its run's; the session shows what its main agent does.
  'agent.status.changed': ({ parentRunId, payload }) =>
    parentRunId === undefined ? { set: { activity: payload.status } } : {},
  'progress.checkpoint': ({ payload }) => ({ set: { milestone: oneLine(payload.message) } }),
  'llm.request.completed': ({ payload }) => ({
    set: { billing: payload.billing, priceList: payload.priceList },
  }),
  'llm.usage.corrected': ({ payload }) => ({
    set: { billing: payload.billing, priceList: payload.priceList },
  }),
}
