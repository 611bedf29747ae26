import * as z from 'zod'
import { MessageType } from './events/message.ts'
import { EventId, RunId, SessionId, SpanId, TraceId } from './ids.ts'
import { Activity, AgentKind, ApprovalSubject, Count, Lifecycle, Priority, Verdict } from './values.ts'

const text = z.string().nullable()
const amount = z.number().nullable()
/** Milliseconds since 1970, UTC. */
const ms = z.number().nullable()
const Seq = z.int().positive()

const calls = { toolCompleted: Count, toolFailed: Count, toolDenied: Count } as const

/** Sums over the leaves of the token ledger. Null means that no call has said it; it is never 0 for that. */
const usage = {
  calls: Count,
  /** Calls among them whose price is not known. */
  unpriced: Count,
  input: amount,
  output: amount,
  cacheRead: amount,
  cacheWrite: amount,
  reasoning: amount,
  tokens: amount,
  costUsd: amount,
} as const

/** Tokens and cost of some model calls. */
export const UsageRow = z.strictObject({
  /** What the sum is of, when sums are grouped. */
  of: text,
  ...usage,
})
export type UsageRow = z.infer<typeof UsageRow>

/** One session as lists and pages show it. */
export const SessionRow = z.strictObject({
  sessionId: SessionId,
  shortId: z.string(),
  name: text,
  title: text,
  prompt: text,
  parentId: SessionId.nullable(),
  agentId: text,
  agentType: text,
  model: text,
  cli: text,
  workingDir: text,
  origin: text,
  foreignId: text,
  traceId: TraceId,
  mode: text,
  pattern: text,
  /** Null until an event has said it. */
  lifecycle: Lifecycle.nullable(),
  activity: Activity.nullable(),
  detail: text,
  milestone: text,
  /** What people call it. */
  friendlyName: text,
  task: text,
  /** What it said when it ended. */
  completion: text,
  tmuxSession: text,
  depth: amount,
  permissionMode: text,
  billing: text,
  firstSeq: Seq,
  lastSeq: Seq,
  lastType: z.string(),
  firstMs: z.number(),
  startedMs: ms,
  endedMs: ms,
  lastMs: z.number(),
  events: Count,
  messages: Count,
  agents: Count,
  handoffs: Count,
  handoffLoops: Count,
  ...calls,
  ...usage,
})
export type SessionRow = z.infer<typeof SessionRow>

/** One execution of an agent. */
export const RunRow = z.strictObject({
  runId: RunId,
  sessionId: SessionId,
  traceId: TraceId,
  spanId: SpanId.nullable(),
  parentRunId: RunId.nullable(),
  kind: AgentKind,
  agentId: text,
  agentType: text,
  model: text,
  task: text,
  taskId: text,
  workflowId: text,
  phase: text,
  depth: amount,
  foreignId: text,
  /** The folder of its session. */
  repoPath: text,
  activity: Activity.nullable(),
  status: z.enum(['running', 'completed', 'failed', 'cancelled']),
  /** The exact word of its end. */
  ending: z.enum(['completed', 'failed', 'cancelled', 'killed', 'abandoned']).nullable(),
  detail: text,
  startedMs: z.number(),
  endedMs: ms,
  durationMs: ms,
  /** What the agent's end said of its tokens; the sums beside it come from the ledger. */
  declaredTokens: amount,
  firstSeq: Seq,
  lastSeq: Seq,
  ...calls,
  ...usage,
})
export type RunRow = z.infer<typeof RunRow>

/** One task of one trace. */
export const TaskRow = z.strictObject({
  traceId: TraceId,
  taskId: z.string(),
  firstSeq: Seq,
  sessionId: SessionId,
  runId: RunId.nullable(),
  spanId: SpanId.nullable(),
  agentId: text,
  assignedBy: text,
  description: text,
  priority: Priority.nullable(),
  dependencies: z.array(z.string()),
  /** Null when only a review round has named it. */
  status: z.enum(['planned', 'assigned', 'completed', 'failed', 'cancelled']).nullable(),
  summary: text,
  errorType: text,
  round: amount,
  verdict: Verdict.nullable(),
  assignments: Count,
  assignedMs: ms,
  endedMs: ms,
})
export type TaskRow = z.infer<typeof TaskRow>

const place = { sessionId: SessionId, runId: RunId, traceId: TraceId } as const

/** A session's record of one message and its receipts. */
export const MessageRow = z.strictObject({
  seq: Seq,
  messageId: z.string(),
  ...place,
  spanId: SpanId,
  taskId: text,
  fromAgent: text,
  toAgent: text,
  messageType: MessageType.nullable(),
  sequenceNumber: amount,
  correlationId: text,
  replyTo: text,
  mode: text,
  preview: text,
  state: z.enum(['created', 'queued', 'delivered', 'accepted', 'failed']),
  detail: text,
  attempts: amount,
  createdMs: ms,
  queuedMs: ms,
  deliveredMs: ms,
  acceptedMs: ms,
  failedMs: ms,
})
export type MessageRow = z.infer<typeof MessageRow>

/** A question to a person or parent, and its answer. */
export const ApprovalRow = z.strictObject({
  seq: Seq,
  approvalId: z.string(),
  ...place,
  spanId: SpanId,
  actor: z.string(),
  subject: ApprovalSubject,
  action: text,
  reason: text,
  risk: z.enum(['low', 'medium', 'high']).nullable(),
  options: z.array(z.string()),
  askedOf: text,
  timeoutMs: ms,
  requestedMs: ms,
  /** Null while it is open. */
  decision: z.enum(['granted', 'rejected', 'expired']).nullable(),
  decidedBy: text,
  decidedMs: ms,
  scope: text,
  answer: text,
  latencyMs: ms,
})
export type ApprovalRow = z.infer<typeof ApprovalRow>

/** One run of a workflow. */
export const WorkflowRow = z.strictObject({
  /** The event of its beginning; workflows are paged by it. */
  seq: Seq,
  workflowId: z.string(),
  ...place,
  name: text,
  version: text,
  status: z.enum(['running', 'completed', 'failed', 'cancelled']),
  /** The last phase that it was in. */
  phase: text,
  inputDigest: text,
  /** The workflow that it goes on from. */
  forkOf: text,
  startedMs: ms,
  endedMs: ms,
  /** Steps that are written down. */
  steps: Count,
  totalAgents: amount,
  totalTokens: amount,
  /** Why it failed, or was called off. */
  detail: text,
})
export type WorkflowRow = z.infer<typeof WorkflowRow>

/** How a span stands. */
export const SpanStatus = z.enum([
  'open',
  'ok',
  'error',
  'cancelled',
  'killed',
  'abandoned',
  'denied',
  'rejected',
  'expired',
  'skipped',
  'unknown',
])
export type SpanStatus = z.infer<typeof SpanStatus>

/** One span of a trace. */
export const SpanRow = z.strictObject({
  /** The first event of the span; spans are paged by it. */
  seq: Seq,
  spanId: SpanId,
  parentSpanId: SpanId.nullable(),
  ...place,
  taskId: text,
  actor: z.string(),
  workflowId: text,
  phase: text,
  kind: z.string(),
  name: text,
  title: text,
  tool: text,
  model: text,
  callId: text,
  type: text,
  endType: text,
  status: SpanStatus,
  detail: text,
  /** It was closed and nothing has opened it. */
  orphan: z.boolean(),
  startedMs: ms,
  endedMs: ms,
  durationMs: ms,
  tokens: amount,
  costUsd: amount,
})
export type SpanRow = z.infer<typeof SpanRow>

/** One model call. */
export const LedgerRow = z.strictObject({
  seq: Seq,
  responseId: z.string(),
  sessionId: SessionId,
  runId: RunId,
  traceId: TraceId.nullable(),
  spanId: SpanId.nullable(),
  actor: z.string(),
  workflowId: text,
  phase: text,
  day: z.iso.date(),
  atMs: z.number(),
  provider: text,
  model: text,
  billing: text,
  source: text,
  finishReason: text,
  durationMs: ms,
  /** How many reports of this call there were; the last one wins. */
  reports: Count,
  lastSeq: Seq,
  ...usage,
})
export type LedgerRow = z.infer<typeof LedgerRow>

/** One event in a list; its payload is in the journal. */
export const FeedRow = z.strictObject({
  seq: Seq,
  id: EventId,
  type: z.string(),
  atMs: z.number(),
  ...place,
  spanId: SpanId,
  parentSpanId: SpanId.nullable(),
  taskId: text,
  actor: z.string(),
  workflowId: text,
  phase: text,
  title: text,
})
export type FeedRow = z.infer<typeof FeedRow>

/** Counters of one slice; the fields it is not cut by are null. */
export const StatsRow = z.strictObject({
  day: z.iso.date().nullable(),
  sessionId: SessionId.nullable(),
  actor: text,
  workflowId: text,
  phase: text,
  events: Count,
  messages: Count,
  agents: Count,
  /** Agents whose depth is known, and the sum of their depths. */
  depths: Count,
  depthSum: Count,
  handoffs: Count,
  handoffLoops: Count,
  tasksCompleted: Count,
  tasksFailed: Count,
  tasksCancelled: Count,
  approved: Count,
  changesRequested: Count,
  rejected: Count,
  supported: Count,
  refuted: Count,
  inconclusive: Count,
  granted: Count,
  refused: Count,
  expired: Count,
  tokensBefore: Count,
  tokensAfter: Count,
  ...calls,
  ...usage,
})
export type StatsRow = z.infer<typeof StatsRow>

/** How long people took to answer; null when nobody has. */
export const ApprovalLatency = z.strictObject({
  decided: Count,
  pending: Count,
  p50Ms: ms,
  p95Ms: ms,
})
export type ApprovalLatency = z.infer<typeof ApprovalLatency>

/** The size of the index. */
export const IndexCounts = z.strictObject({
  lastSeq: Count,
  events: Count,
  sessions: Count,
  runs: Count,
  spans: Count,
  openSpans: Count,
  parked: Count,
})
export type IndexCounts = z.infer<typeof IndexCounts>

/** An event a follower could not take. */
export const ParkedRow = z.strictObject({ follower: z.string(), seq: Seq, error: z.string() })
export type ParkedRow = z.infer<typeof ParkedRow>

/** A piece of text; hits are what the query found. */
export const Fragment = z.strictObject({ text: z.string(), isHit: z.boolean() })
export type Fragment = z.infer<typeof Fragment>

/** One event that a search found. */
export const SearchHit = z.strictObject({
  seq: Seq,
  atMs: z.number(),
  sessionId: SessionId,
  type: z.string(),
  tool: text,
  status: text,
  title: z.array(Fragment),
  snippet: z.array(Fragment),
})
export type SearchHit = z.infer<typeof SearchHit>
