import type { AgentEvent, EventOf } from '../../contract/event.ts'
import { foreignJson } from '../../contract/formats/foreign-json.ts'
import { fleet, shortId } from '../../contract/ids.ts'
import type { Amounts, RowOp, Upsert, Values } from '../../contract/row-op.ts'
import { statusOf as phraseOf } from '../../contract/status-phrases.ts'
import { subjectOf } from '../../contract/tool-subject.ts'
import { isRecord } from '../json/json-value.ts'
import { type Handlers, handle, phaseOf, workflowOf } from './event-handlers.ts'
import { headOf, oneLine } from './row-text.ts'

type Change = { readonly set?: Values<'runs'>; readonly keep?: Values<'runs'> }

/** Every event of a run touches its row; its first end closes it and no later one changes that. */
export function runOps(event: AgentEvent, atMs: number): RowOp[] {
  if (event.runId === fleet.runId) return []
  const key = [event.runId]
  const ops: RowOp[] = [
    {
      op: 'upsert',
      table: 'runs',
      key,
      keep: {
        shortId: shortId(event.runId),
        sessionId: event.sessionId,
        traceId: event.traceId,
        parentRunId: event.parentRunId,
        startedMs: atMs,
        lastMs: atMs,
        firstSeq: event.seq,
      },
      set: { lastSeq: event.seq },
      max: { lastMs: atMs },
      add: handle(counts, event, atMs) ?? none,
    },
  ]
  const change = handle(changes, event, atMs)
  if (change !== undefined) ops.push({ op: 'upsert', table: 'runs', key, ...change })
  const end = handle(ends, event, atMs)
  if (end !== undefined) ops.push(close(event, end))
  return ops
}

const none: Amounts<'runs'> = {}

const counts: Handlers<Amounts<'runs'>> = {
  'tool.call.completed': () => ({ toolCompleted: 1 }),
  'tool.call.failed': () => ({ toolFailed: 1 }),
  'tool.call.denied': () => ({ toolDenied: 1 }),
}

const changes: Handlers<Change> = {
  'session.started': ({ payload }) => ({
    keep: { agentId: payload.agent?.agentId, agentType: payload.agent?.agentType, model: payload.model },
  }),
  'agent.spawned': (event) => {
    const { payload } = event
    return {
      // Who runs is said more exactly here than where its session began.
      set: { agentId: payload.agentId, agentType: payload.agentType },
      keep: {
        spanId: event.spanId,
        kind: payload.kind,
        model: payload.model,
        depth: payload.depth,
        foreignId: payload.foreignId,
        task: oneLine(payload.agentTask ?? payload.task?.description),
        taskId: event.taskId ?? payload.task?.taskId,
        workflowId: workflowOf(event),
        phase: phaseOf(event),
      },
    }
  },
  'agent.status.changed': ({ payload: { status, detail } }) => ({
    set: { activity: status, doing: oneLine(detail) },
  }),
  'tool.call.started': ({ payload: { tool, params } }) => {
    const { status, detail } = phraseOf.calling(tool)
    return {
      set: { activity: status, doing: oneLine([detail, subjectOf(params)].filter(Boolean).join(' ')) },
    }
  },
}

type RunStatus = 'completed' | 'failed' | 'cancelled'
type Ending = RunStatus | 'killed' | 'abandoned'
type End = {
  readonly ending: Ending
  readonly detail: string | undefined
  readonly agentId?: string
  readonly durationMs?: number | undefined
  readonly tokens?: number | undefined
  readonly atMs: number
}

// A run record knows three ends; the word of the event stays beside it.
const statusOf: Record<Ending, RunStatus> = {
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
  killed: 'cancelled',
  abandoned: 'failed',
}

function close(event: AgentEvent, end: End): Upsert<'runs'> {
  return {
    op: 'upsert',
    table: 'runs',
    key: [event.runId],
    unless: 'status',
    keep: { agentId: end.agentId },
    set: {
      status: statusOf[end.ending],
      ending: end.ending,
      detail: end.detail,
      endedMs: end.atMs,
      durationMs: end.durationMs,
      declaredTokens: end.tokens,
    },
  }
}

type AgentEnd = EventOf<
  'agent.completed' | 'agent.failed' | 'agent.cancelled' | 'agent.killed' | 'agent.abandoned'
>

const ended =
  (ending: Ending) =>
  ({ payload }: AgentEnd, atMs: number): End => ({
    ending,
    detail: oneLine(
      payload.reason ??
        payload.detail ??
        ('error' in payload ? payload.error : undefined) ??
        (isRecord(payload.output) ? wordsIn(payload.output['text']) : undefined),
    ),
    agentId: payload.agentId,
    durationMs: payload.durationMs,
    tokens: payload.tokens ?? payload.usage?.total,
    atMs,
  })

const answerChars = 4000
const summary = /^\s*```json\b[^]*?"summary"\s*:\s*("(?:[^"\\]|\\.)*")/

/** What an answer says: one that is given as data says it in its summary. */
function wordsIn(answer: unknown): unknown {
  const [, words] = summary.exec(headOf(answer, answerChars)) ?? []
  return (words === undefined ? undefined : foreignJson(words)) ?? answer
}

const ends: Handlers<End> = {
  'agent.completed': ended('completed'),
  'agent.failed': ended('failed'),
  'agent.cancelled': ended('cancelled'),
  'agent.killed': ended('killed'),
  'agent.abandoned': ended('abandoned'),
  'session.completed': ({ payload }, atMs) => ({
    ending: payload.outcome,
    detail: oneLine(payload.reason ?? payload.message),
    durationMs: payload.durationMs,
    atMs,
  }),
  'session.failed': ({ payload }, atMs) => ({
    ending: 'failed',
    detail: oneLine(payload.error ?? payload.reason ?? payload.message),
    durationMs: payload.durationMs,
    atMs,
  }),
}
