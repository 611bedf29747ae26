import { type AgentEvent, catalogue } from '../../contract/event.ts'
import type { SpanKind } from '../../contract/event-definition.ts'
import type { RowOp, Values } from '../../contract/row-op.ts'
import { type SpanStatus, Verdict } from '../../contract/values.ts'
import { type Handlers, handle, phaseOf, workflowOf } from './event-handlers.ts'
import { clip, oneLine } from './row-text.ts'

/** Opens or closes the span of an event; points inside a span leave it alone. */
export function spanOps(event: AgentEvent, atMs: number, title: string | undefined): RowOp[] {
  // A journal written by a newer version has types that this one does not know.
  const { span, spanKind } = catalogue[event.type] ?? {}
  if (spanKind === undefined) return []
  const isStart = span === 'start'
  return [
    {
      op: 'upsert',
      table: 'spans',
      key: [event.traceId, event.spanId],
      isFresh: isStart,
      // What either end of a span may say of it; the first to say it is kept.
      keep: {
        seq: event.seq,
        parentSpanId: event.parentSpanId,
        sessionId: event.sessionId,
        runId: event.runId,
        taskId: event.taskId,
        actor: event.actor,
        workflowId: workflowOf(event),
        phase: phaseOf(event),
        // Rows of rounds have always been called after their family.
        kind: spanKind === 'round' ? 'loop' : spanKind,
        name: spanName(event, spanKind),
        title,
        tool: spanKind === 'tool' ? textField(event, 'tool') : undefined,
        model: spanKind === 'llm' ? textField(event, 'model') : undefined,
        callId: spanKind === 'tool' ? textField(event, 'callId') : undefined,
        type: isStart ? event.type : undefined,
        startedMs: isStart ? atMs : undefined,
        orphan: isStart ? undefined : 1,
      },
      ...(isStart ? opened : { unless: 'endType', set: spanEnd(event, atMs) }),
    },
  ]
}

// The start may come after the end: then the span was closed without one until now.
const opened = { set: { orphan: 0 } } as const

/** How the span of an end event ended, why, and how long it says it took. */
function spanEnd(event: AgentEvent, atMs: number): Values<'spans'> {
  const status = endStatus(event)
  const { durationMs } = event.payload as { durationMs?: unknown }
  return {
    endType: event.type,
    endedMs: atMs,
    status,
    detail: status === 'ok' ? undefined : reasonOf(event.payload),
    verdict: verdictOf(event),
    durationMs: typeof durationMs === 'number' ? durationMs : undefined,
  }
}

/** How an end event leaves its span. */
export function endStatus(event: AgentEvent): SpanStatus {
  return handle(statuses, event, 0) ?? 'ok'
}

/** A reviewer's task answers with a verdict; a round has the one that counts. */
function verdictOf({ type, payload }: AgentEvent): string | undefined {
  if (type === 'loop.round.completed') return payload.verdict
  if (type !== 'task.completed') return undefined
  const { output } = payload
  if (typeof output !== 'object' || output === null || !('verdict' in output)) return undefined
  const read = Verdict.safeParse(output.verdict)
  return read.success ? read.data : undefined
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

/** What a span is called in a tree: a tool's span by its tool, an agent's by its type, a call by its model. */
function spanName(event: AgentEvent, kind: SpanKind): string | undefined {
  const said = nameFields[kind].map((field) => textField(event, field)).find((name) => name !== undefined)
  return kind === 'tool' ? `tool.${said ?? 'unknown'}` : said
}

// An end says less than its start, so the first field that is there wins; the start's name is kept.
const nameFields: Readonly<Record<SpanKind, readonly string[]>> = {
  session: ['friendlyName', 'name', 'title'],
  agent: ['agentType'],
  task: ['taskId'],
  tool: ['tool'],
  llm: ['model'],
  message: ['messageId'],
  approval: ['subject'],
  effect: ['effect'],
  workflow: ['name', 'workflowId'],
  phase: ['phase'],
  node: ['node'],
  round: [],
  handoff: [],
}

function textField(event: AgentEvent, field: string): string | undefined {
  const value = (event.payload as Readonly<Record<string, unknown>>)[field]
  return typeof value === 'string' && value !== '' ? clip(value, 120) : undefined
}
