import { type AgentEvent, isReport } from '../../contract/event.ts'
import { answeredAs, type Columns } from '../../contract/index-columns.ts'
import type { FeedRow, SpanRow } from '../../contract/index-rows.ts'
import { tables } from '../../contract/index-tables.ts'
import type { RowOp, Upsert, Values } from '../../contract/row-op.ts'
import { modelCall } from '../ledger/model-usage.ts'
import { phaseOf, workflowOf } from '../projections/event-handlers.ts'
import { titleOf } from '../projections/event-text.ts'
import { spanOps } from '../projections/span-rows.ts'
import { isMark } from './trace-marks.ts'

/** One page of what the index knew of a trace when it had read the journal up to `seq`. */
export type TracePage = {
  readonly spans: readonly SpanRow[]
  readonly marks: readonly FeedRow[]
  readonly seq: number
}

/** Spans by trace and span. */
export const spanKey = ({ traceId, spanId }: { traceId: string | null; spanId: string }): string =>
  `${traceId} ${spanId}`

type Fields = Record<string, unknown>
type SpanOp = Upsert<'spans'>

/** A span as the index had it at some seq, and all events that were told of it, by seq. */
type Kept = { readonly base?: Fields; readonly baseSeq: number; readonly events: AgentEvent[] }

/**
 * The spans and marks of a trace: from pages of the index, then from events, which may come in any order and more than
 * once. Whatever the way, the rows are those that the index would have.
 */
export class TraceRows {
  readonly #kept = new Map<string, Kept>()
  readonly #spans = new Map<string, SpanRow>()
  readonly #marks = new Map<number, FeedRow>()
  /** The span of each model call that was seen here, since a correction may come from elsewhere. */
  readonly #calls = new Map<string, string>()
  /** Events whose lines were erased: what they said is shown no more. */
  readonly #erased = new Set<number>()
  /** What is new or another since it was last taken. */
  readonly #changedSpans = new Set<string>()
  readonly #changedMarks = new Set<number>()
  /** Corrections of calls that were not seen here. */
  readonly #corrections = new Map<string, AgentEvent[]>()

  /** Takes what the index knows; what events said of the same spans after that stays. */
  page({ spans, marks, seq }: TracePage): void {
    for (const span of spans) {
      const key = spanKey(span)
      const events = this.#kept.get(key)?.events ?? []
      this.#kept.set(key, { base: unshaped(span), baseSeq: seq, events })
      this.#fold(key)
    }
    for (const mark of marks) this.#mark(mark)
  }

  /** Takes one event of the trace, however late it is. */
  event(event: AgentEvent): void {
    if (event.type === 'journal.erased') this.#erase(event.payload.seqs)
    if (isMark(event.type)) this.#mark(markOf(event))
    const call = modelCall(event)
    if (call?.isCorrection) {
      const key = this.#calls.get(call.responseId)
      if (key !== undefined) return this.#add(key, event)
      const waiting = this.#corrections.get(call.responseId) ?? []
      this.#corrections.set(call.responseId, [...waiting, event])
      return
    }
    const key = spanKey(event)
    if (call === undefined && spanOps(event, 0, undefined).length === 0) return
    this.#add(key, event)
    if (call === undefined) return
    this.#calls.set(call.responseId, key)
    for (const waiting of this.#corrections.get(call.responseId) ?? []) this.#add(key, waiting)
    this.#corrections.delete(call.responseId)
  }

  /** A call that only the pages know was corrected: its figures are right when they are read again. */
  get isOutdated(): boolean {
    return this.#corrections.size > 0
  }

  /** All spans by their first event. */
  spans(): SpanRow[] {
    return [...this.#spans.values()].sort((a, b) => a.seq - b.seq)
  }

  /** All marks, oldest first. */
  marks(): FeedRow[] {
    return [...this.#marks.values()].sort((a, b) => a.seq - b.seq)
  }

  /** The spans and marks that are new or another since this was last asked. */
  takeChanges(): Pick<TracePage, 'spans' | 'marks'> {
    const spans = this.spans().filter((span) => this.#changedSpans.has(spanKey(span)))
    const marks = this.marks().filter(({ seq }) => this.#changedMarks.has(seq))
    this.#changedSpans.clear()
    this.#changedMarks.clear()
    return { spans, marks }
  }

  #mark(mark: FeedRow): void {
    if (this.#marks.has(mark.seq)) return
    this.#marks.set(mark.seq, this.#erased.has(mark.seq) ? { ...mark, title: null } : mark)
    this.#changedMarks.add(mark.seq)
  }

  #erase(seqs: readonly number[]): void {
    for (const seq of seqs) {
      this.#erased.add(seq)
      const mark = this.#marks.get(seq)
      if (mark === undefined) continue
      this.#marks.set(seq, { ...mark, title: null })
      this.#changedMarks.add(seq)
    }
  }

  #add(key: string, event: AgentEvent): void {
    const kept = this.#kept.get(key) ?? { baseSeq: 0, events: [] }
    const at = kept.events.findLastIndex(({ seq }) => seq <= event.seq)
    if (kept.events[at]?.seq === event.seq) return
    kept.events.splice(at + 1, 0, event)
    this.#kept.set(key, kept)
    this.#fold(key)
  }

  #fold(key: string): void {
    const { base, baseSeq, events } = this.#kept.get(key) ?? { baseSeq: 0, events: [] }
    let row = base
    const calls = new Map<string, Figures>()
    for (const event of events) {
      if (event.seq <= baseSeq) continue
      row = opsApplied(row, event)
      const call = modelCall(event)
      if (call === undefined) continue
      const costUsd = call.costNano === undefined ? calls.get(call.responseId)?.costUsd : call.costNano / 1e9
      calls.set(call.responseId, { tokens: call.tokens, costUsd })
    }
    if (row === undefined) return
    this.#spans.set(key, shaped(withCalls(row, [...calls.values()])))
    this.#changedSpans.add(key)
  }
}

type Figures = { readonly tokens: number; readonly costUsd: number | undefined }

/** A span with what the model calls in it used, besides what the index has counted. */
function withCalls(row: Fields, calls: readonly Figures[]): Fields {
  const sum = (before: unknown, amounts: readonly (number | undefined)[]): number | null => {
    const told = [before, ...amounts].filter((amount) => typeof amount === 'number')
    return told.length === 0 ? null : told.reduce((total, amount) => total + amount, 0)
  }
  return {
    ...row,
    tokens: sum(
      row['tokens'],
      calls.map(({ tokens }) => tokens),
    ),
    costUsd: sum(
      row['costUsd'],
      calls.map(({ costUsd }) => costUsd),
    ),
  }
}

/** A span after one more of its events. */
function opsApplied(before: Fields | undefined, event: AgentEvent): Fields | undefined {
  let row = before
  for (const op of spanOps(event, Date.parse(event.timestamp), titleOf(event))) {
    if (!isOfSpans(op)) continue
    // What others tell changes no span of another session.
    if (isReport(event) && row !== undefined && row['sessionId'] !== event.sessionId) continue
    row = written(row ?? blank(op), op)
  }
  return row
}

const isOfSpans = (op: RowOp): op is SpanOp => op.op === 'upsert' && op.table === 'spans'

function blank({ key }: SpanOp): Fields {
  const fields = Object.fromEntries(Object.keys(columns).map((name) => [answeredAs(name), null]))
  return { ...fields, traceId: key[0], spanId: key[1] }
}

/** What the writer of the index does with one operation. */
function written(before: Fields, { keep, set, unless }: SpanOp): Fields {
  const row = { ...before }
  const put = (values: Values<'spans'> | undefined, isKept: boolean) => {
    for (const [name, value] of Object.entries(values ?? {}))
      if (value !== undefined && !(isKept && row[answeredAs(name)] !== null)) row[answeredAs(name)] = value
  }
  const isSet = unless !== undefined && before[answeredAs(unless)] !== null
  put(keep, true)
  if (!isSet) put(set, false)
  return row
}

const columns: Columns = tables.spans.columns

/** A row as answers have it. */
function shaped(row: Fields): SpanRow {
  const { startedMs, endedMs } = row
  const took =
    typeof startedMs === 'number' && typeof endedMs === 'number' ? Math.max(endedMs - startedMs, 0) : null
  return {
    ...row,
    orphan: row['orphan'] === 1 || row['orphan'] === true,
    status: row['status'] ?? 'open',
    durationMs: row['durationMs'] ?? took,
  } as SpanRow
}

/** A row from an answer, so that more of its events can be told of it. */
const unshaped = (span: SpanRow): Fields => ({
  ...span,
  orphan: span.orphan ? 1 : 0,
  status: span.endType === null ? null : span.status,
})

const markOf = (event: AgentEvent): FeedRow =>
  ({
    seq: event.seq,
    id: event.id,
    type: event.type,
    atMs: Date.parse(event.timestamp),
    sessionId: event.sessionId,
    runId: event.runId,
    traceId: event.traceId,
    spanId: event.spanId,
    parentSpanId: event.parentSpanId ?? null,
    taskId: event.taskId ?? null,
    actor: event.actor,
    workflowId: workflowOf(event) ?? null,
    phase: phaseOf(event) ?? null,
    title: titleOf(event) ?? null,
  }) satisfies FeedRow
