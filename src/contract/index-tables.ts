import * as z from 'zod'
import { MessageType } from './events/message.ts'
import { EventId, RunId, SessionId, SpanId, TraceId } from './ids.ts'
import {
  type Columns,
  count,
  dayOf,
  flag,
  list,
  nano,
  number,
  numberOf,
  slice,
  text,
  textOf,
  usage,
  word,
  wordOf,
} from './index-columns.ts'
import {
  Activity,
  AgentKind,
  ApprovalSubject,
  Lifecycle,
  Priority,
  SpanStatus,
  Verdict,
  WorkflowFailure,
  WorkflowOutcome,
} from './values.ts'

/** Numbers of one table that are totals in another, of the same session: when a row changes, the difference moves on. */
export type Carry = {
  readonly to: string
  /** Columns of this table that name the row of the other; a null among them carries nothing. */
  readonly key: readonly string[]
  readonly columns: readonly string[]
}

/** One table of the index. A row is found by its key; `rowid` is the number rows are paged by. */
export type TableSpec = {
  readonly columns: Columns
  readonly key: readonly string[]
  readonly rowid?: string
  readonly indexes: readonly { readonly columns: readonly string[]; readonly where?: string }[]
  readonly carries?: readonly Carry[]
}

/** Raised when a projection changes its meaning; an index of another version is built again. */
export const indexVersion = 8

const seq = numberOf(z.int().positive())
const time = numberOf(z.number())
const calls = { toolCompleted: count, toolFailed: count, toolDenied: count } as const
const place = { sessionId: wordOf(SessionId), runId: wordOf(RunId), traceId: wordOf(TraceId) } as const
const slices = { actor: wordOf(z.string()), workflowId: word, phase: word } as const
const usageColumns = Object.keys(usage) as (keyof typeof usage)[]

/** Every table of the index: the one description from which files, writer, queries and the types of rows are made. */
export const tables = {
  events: {
    columns: {
      seq,
      id: textOf(EventId),
      type: wordOf(z.string()),
      atMs: time,
      ...place,
      spanId: textOf(SpanId),
      parentSpanId: textOf(SpanId.nullable()),
      taskId: word,
      ...slices,
      title: text,
    },
    key: ['seq'],
    rowid: 'seq',
    indexes: [{ columns: ['sessionId'] }, { columns: ['type'] }],
  },
  sessions: {
    columns: {
      sessionId: wordOf(SessionId),
      shortId: textOf(z.string()),
      name: text,
      title: text,
      prompt: text,
      parentId: wordOf(SessionId.nullable()),
      /** The run that it works for, in the session of a workflow; its turns have the same parent. */
      parentRunId: wordOf(RunId.nullable()),
      agentId: word,
      agentType: word,
      model: word,
      cli: word,
      workingDir: word,
      origin: word,
      foreignId: text,
      traceId: wordOf(TraceId),
      mode: word,
      pattern: word,
      /** Null until an event has said it. */
      lifecycle: wordOf(Lifecycle.nullable()),
      activity: wordOf(Activity.nullable()),
      detail: text,
      milestone: text,
      /** What people call it. */
      friendlyName: text,
      task: text,
      /** What it said when it ended. */
      completion: text,
      /** How it ended, when it was a workflow that did not give what was asked for. */
      outcome: wordOf(WorkflowFailure.nullable()),
      tmuxSession: text,
      depth: number,
      permissionMode: word,
      billing: word,
      /** The prices that the last computed cost comes from. */
      priceList: word,
      firstSeq: seq,
      lastSeq: seq,
      lastType: wordOf(z.string()),
      firstMs: time,
      startedMs: number,
      endedMs: number,
      lastMs: time,
      events: count,
      messages: count,
      agents: count,
      handoffs: count,
      handoffLoops: count,
      ...calls,
      ...usage,
    },
    key: ['sessionId'],
    indexes: [
      { columns: ['shortId'] },
      { columns: ['name'] },
      { columns: ['friendlyName'], where: 'friendlyName IS NOT NULL' },
      { columns: ['foreignId'], where: 'foreignId IS NOT NULL' },
      { columns: ['parentId'], where: 'parentId IS NOT NULL' },
    ],
  },
  runs: {
    columns: {
      runId: wordOf(RunId),
      shortId: textOf(z.string()),
      sessionId: wordOf(SessionId),
      traceId: wordOf(TraceId),
      spanId: textOf(SpanId.nullable()),
      parentRunId: wordOf(RunId.nullable()),
      kind: wordOf(AgentKind),
      agentId: word,
      agentType: word,
      model: word,
      task: text,
      taskId: word,
      workflowId: word,
      phase: word,
      depth: number,
      foreignId: text,
      activity: wordOf(Activity.nullable()),
      /** What it did last, in a few words. */
      doing: text,
      status: wordOf(z.enum(['running', 'completed', 'failed', 'cancelled'])),
      /** The exact word of its end. */
      ending: wordOf(z.enum(['completed', 'failed', 'cancelled', 'killed', 'abandoned']).nullable()),
      detail: text,
      startedMs: time,
      lastMs: time,
      endedMs: number,
      durationMs: number,
      /** What the agent's end said of its tokens; the sums beside it come from the ledger. */
      declaredTokens: number,
      firstSeq: seq,
      lastSeq: seq,
      ...calls,
      ...usage,
    },
    key: ['runId'],
    indexes: [
      { columns: ['sessionId'] },
      { columns: ['shortId'] },
      { columns: ['parentRunId'], where: 'parentRunId IS NOT NULL' },
      { columns: ['sessionId', 'parentRunId'], where: 'parentRunId IS NOT NULL' },
    ],
  },
  tasks: {
    columns: {
      traceId: wordOf(TraceId),
      taskId: wordOf(z.string()),
      firstSeq: seq,
      sessionId: wordOf(SessionId),
      runId: wordOf(RunId.nullable()),
      spanId: textOf(SpanId.nullable()),
      agentId: word,
      assignedBy: word,
      description: text,
      priority: wordOf(Priority.nullable()),
      dependencies: list,
      /** Null when only a review round has named it. */
      status: wordOf(z.enum(['planned', 'assigned', 'completed', 'failed', 'cancelled']).nullable()),
      summary: text,
      errorType: word,
      round: number,
      verdict: wordOf(Verdict.nullable()),
      assignments: count,
      assignedMs: number,
      endedMs: number,
    },
    key: ['traceId', 'taskId'],
    indexes: [{ columns: ['sessionId'] }],
  },
  messages: {
    columns: {
      seq,
      messageId: textOf(z.string()),
      ...place,
      spanId: textOf(SpanId),
      taskId: word,
      fromAgent: word,
      toAgent: word,
      messageType: wordOf(MessageType.nullable()),
      sequenceNumber: number,
      correlationId: text,
      replyTo: text,
      mode: word,
      preview: text,
      state: wordOf(z.enum(['created', 'queued', 'delivered', 'accepted', 'failed'])),
      detail: text,
      attempts: number,
      createdMs: number,
      queuedMs: number,
      deliveredMs: number,
      acceptedMs: number,
      failedMs: number,
    },
    key: ['messageId', 'sessionId'],
    rowid: 'seq',
    indexes: [{ columns: ['sessionId'] }, { columns: ['correlationId'], where: 'correlationId IS NOT NULL' }],
  },
  approvals: {
    columns: {
      seq,
      approvalId: textOf(z.string()),
      ...place,
      spanId: textOf(SpanId),
      actor: wordOf(z.string()),
      subject: wordOf(ApprovalSubject),
      action: text,
      reason: text,
      risk: wordOf(z.enum(['low', 'medium', 'high']).nullable()),
      options: list,
      askedOf: word,
      timeoutMs: number,
      requestedMs: number,
      /** Null while it is open. */
      decision: wordOf(z.enum(['granted', 'rejected', 'expired']).nullable()),
      decidedBy: word,
      decidedMs: number,
      scope: word,
      answer: text,
      latencyMs: number,
    },
    key: ['approvalId'],
    rowid: 'seq',
    indexes: [{ columns: ['sessionId'] }, { columns: ['requestedMs'], where: 'decision IS NULL' }],
  },
  workflows: {
    columns: {
      /** The event of its beginning; workflows are paged by it. */
      seq,
      workflowId: textOf(z.string()),
      ...place,
      name: word,
      version: word,
      status: wordOf(z.enum(['running', ...WorkflowOutcome.options])),
      /** The last phase that it was in. */
      phase: word,
      inputDigest: text,
      /** The workflow that it goes on from. */
      forkOf: text,
      startedMs: number,
      endedMs: number,
      /** Steps that are written down. */
      steps: count,
      totalAgents: number,
      totalTokens: number,
      /** Why it failed, or was called off. */
      detail: text,
    },
    key: ['workflowId'],
    rowid: 'seq',
    indexes: [{ columns: ['sessionId'] }],
  },
  spans: {
    columns: {
      /** The first event of the span; spans are paged by it. */
      seq,
      spanId: textOf(SpanId),
      parentSpanId: textOf(SpanId.nullable()),
      ...place,
      taskId: word,
      ...slices,
      kind: wordOf(z.string()),
      name: word,
      title: text,
      tool: word,
      model: word,
      callId: text,
      type: word,
      endType: word,
      status: wordOf(SpanStatus),
      detail: text,
      /** It was closed and nothing has opened it. */
      orphan: flag,
      startedMs: number,
      endedMs: number,
      durationMs: number,
      tokens: number,
      costNano: nano,
    },
    key: ['traceId', 'spanId'],
    rowid: 'seq',
    indexes: [
      { columns: ['sessionId'] },
      { columns: ['traceId'] },
      { columns: ['endType'], where: 'endType IS NULL' },
    ],
  },
  ledger: {
    columns: {
      seq,
      responseId: textOf(z.string()),
      sessionId: wordOf(SessionId),
      runId: wordOf(RunId),
      traceId: wordOf(TraceId.nullable()),
      spanId: textOf(SpanId.nullable()),
      actor: wordOf(z.string()),
      workflowId: slice,
      phase: slice,
      day: dayOf(z.iso.date()),
      atMs: time,
      provider: word,
      model: word,
      billing: word,
      source: word,
      finishReason: word,
      durationMs: number,
      /** How many reports of this call there were; the last one wins. */
      reports: count,
      lastSeq: seq,
      ...usage,
    },
    key: ['responseId'],
    rowid: 'seq',
    indexes: [{ columns: ['sessionId'] }],
    carries: [
      { to: 'sessions', key: ['sessionId'], columns: usageColumns },
      { to: 'runs', key: ['runId'], columns: usageColumns },
      { to: 'rollups', key: ['day', 'sessionId', 'actor', 'workflowId', 'phase'], columns: usageColumns },
      { to: 'spans', key: ['traceId', 'spanId'], columns: ['tokens', 'costNano'] },
    ],
  },
  rollups: {
    columns: {
      day: dayOf(z.iso.date().nullable()),
      sessionId: wordOf(SessionId.nullable()),
      actor: word,
      workflowId: slice,
      phase: slice,
      events: count,
      messages: count,
      agents: count,
      /** Agents whose depth is known, and the sum of their depths. */
      depths: count,
      depthSum: count,
      handoffs: count,
      handoffLoops: count,
      tasksCompleted: count,
      tasksFailed: count,
      tasksCancelled: count,
      approved: count,
      changesRequested: count,
      rejected: count,
      supported: count,
      refuted: count,
      inconclusive: count,
      granted: count,
      refused: count,
      expired: count,
      tokensBefore: count,
      tokensAfter: count,
      ...calls,
      ...usage,
    },
    key: ['day', 'sessionId', 'actor', 'workflowId', 'phase'],
    indexes: [{ columns: ['sessionId'] }],
  },
  parked: {
    columns: { follower: wordOf(z.string()), seq, error: textOf(z.string()) },
    key: ['follower', 'seq'],
    indexes: [],
  },
} as const satisfies Record<string, TableSpec>

/** The tables by name. */
export type Tables = typeof tables
/** The name of a table. */
export type TableName = keyof Tables
/** Every table, in the order in which they are written. */
export const tableNames = Object.keys(tables) as TableName[]
