import * as z from 'zod'
import { SessionId } from './ids.ts'
import { type Columns, fieldsOf, usage, word } from './index-columns.ts'
import { tables } from './index-tables.ts'
import { Count } from './values.ts'

const text = z.string().nullable()
const ms = z.number().nullable()

const rowOf = <C extends Columns>(columns: C) => z.strictObject(fieldsOf(columns))

/** One session as lists and pages show it. */
export const SessionRow = rowOf(tables.sessions.columns)
export type SessionRow = z.infer<typeof SessionRow>

/** One execution of an agent. */
export const RunRow = z.strictObject({
  ...fieldsOf(tables.runs.columns),
  /** The folder of its session. */
  repoPath: text,
})
export type RunRow = z.infer<typeof RunRow>

/** One task of one trace. */
export const TaskRow = rowOf(tables.tasks.columns)
export type TaskRow = z.infer<typeof TaskRow>

/** A session's record of one message and its receipts. */
export const MessageRow = rowOf(tables.messages.columns)
export type MessageRow = z.infer<typeof MessageRow>

/** A question to a person or parent, and its answer. */
export const ApprovalRow = rowOf(tables.approvals.columns)
export type ApprovalRow = z.infer<typeof ApprovalRow>

/** One run of a workflow. */
export const WorkflowRow = rowOf(tables.workflows.columns)
export type WorkflowRow = z.infer<typeof WorkflowRow>

/** One span of a trace. */
export const SpanRow = rowOf(tables.spans.columns)
export type SpanRow = z.infer<typeof SpanRow>

/** One model call. */
export const LedgerRow = rowOf(tables.ledger.columns)
export type LedgerRow = z.infer<typeof LedgerRow>

/** One event in a list; its payload is in the journal. */
export const FeedRow = rowOf(tables.events.columns)
export type FeedRow = z.infer<typeof FeedRow>

/** Counters of one slice; the fields it is not cut by are null. */
export const StatsRow = rowOf(tables.rollups.columns)
export type StatsRow = z.infer<typeof StatsRow>

/** The columns of a sum of model calls, and what it is the sum of when sums are grouped. */
export const usageColumns = { of: word, ...usage } as const
/** Tokens and cost of some model calls. */
export const UsageRow = rowOf(usageColumns)
export type UsageRow = z.infer<typeof UsageRow>

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
export const ParkedRow = rowOf(tables.parked.columns)
export type ParkedRow = z.infer<typeof ParkedRow>

/** A piece of text; hits are what the query found. */
export const Fragment = z.strictObject({ text: z.string(), isHit: z.boolean() })
export type Fragment = z.infer<typeof Fragment>

/** One event that a search found. */
export const SearchHit = z.strictObject({
  seq: z.int().positive(),
  atMs: z.number(),
  sessionId: SessionId,
  type: z.string(),
  tool: text,
  status: text,
  title: z.array(Fragment),
  snippet: z.array(Fragment),
})
export type SearchHit = z.infer<typeof SearchHit>
