import type { ImportIds } from '../contract/derived-ids.ts'
import { catalogue, type Draft, type DraftOf, type EventType, type PayloadOf } from '../contract/event.ts'
import type { RunId, SpanId } from '../contract/ids.ts'
import { eventTime, millisOf } from '../core/json/iso-time.ts'
import type { JsonRecord } from '../core/json/json-value.ts'
import type { Recorded } from './records-from-events.ts'
import { residueOf } from './residue.ts'

/** Whose events are drafted: the session's own run or a sub-session's. */
export type Run = {
  readonly key: string
  readonly runId: RunId
  readonly spanId: SpanId
  readonly actor: string
  readonly parentRunId?: RunId
  readonly parentSpanId?: SpanId
  readonly taskId?: string
}

/** A draft with the time it sorts by: never before what caused it, whatever a file's clocks say. */
export type Timed = { readonly draft: Draft; readonly sortAt: number }

/** The text as events hold a line of it; what is longer stands whole in raw. */
export function line(text: string): string {
  if (text.length <= 4096) return text
  const cut = text.slice(0, 4096)
  return cut.isWellFormed() || !text.isWellFormed() ? cut : cut.slice(0, -1)
}

export const millis = (time: string): number => millisOf(time) || 0

/** An event under construction: its type, its time as events write it, and its payload. */
export const recorded = <T extends EventType>(type: T, time: string, payload: PayloadOf<T>): Recorded<T> =>
  ({ type, timestamp: eventTime(time), payload }) as unknown as Recorded<T>

/** What a record has beyond its events, as their `raw`. */
export function rawFor(
  original: object,
  rebuilt: object,
  place: { index?: number; format?: string },
): JsonRecord {
  return { ...place, ...residueOf(original as JsonRecord, rebuilt as JsonRecord) }
}

export type DraftPlace = { readonly run: Run; readonly spanId?: SpanId; readonly key: string }

/** A draft of one run; a span that is not the run's own is below it. */
export function draft<T extends EventType>(
  event: Recorded<T>,
  place: DraftPlace,
  ids: ImportIds,
): DraftOf<T> {
  const { run, spanId, key } = place
  const isOwn = spanId === undefined || spanId === run.spanId
  const parentSpanId = isOwn ? run.parentSpanId : run.spanId
  return {
    id: ids.event(key),
    traceId: ids.trace,
    spanId: spanId ?? run.spanId,
    sessionId: ids.session,
    runId: run.runId,
    actor: run.actor,
    ...event,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    ...(run.parentRunId === undefined ? {} : { parentRunId: run.parentRunId }),
    ...(run.taskId === undefined ? {} : { taskId: run.taskId }),
  } as unknown as DraftOf<T>
}

type Span = { readonly children: Span[]; latest: number; order: number }

/**
 * Events in an order in which a span ends after all that is below it, whatever the clocks of a file say:
 * the journal refuses an end whose span was already closed by the end of its parent.
 */
export function inNestedOrder(events: readonly Timed[]): Timed[] {
  const spans = spansOf(events)
  const placed = events.map((timed) => {
    const span = spans.get(timed.draft.spanId)
    const isEnd = catalogue[timed.draft.type].span === 'end'
    return {
      timed,
      at: isEnd && span ? span.latest : timed.sortAt,
      // At one time whatever happens comes before what ends, and what is deeper ends first.
      rank: isEnd ? 1 + (spans.size - (span?.order ?? 0)) : 0,
    }
  })
  // Array.prototype.sort is stable, so what happened at one time keeps the order of the file.
  return placed.sort((a, b) => a.at - b.at || a.rank - b.rank).map(({ timed }) => timed)
}

function spansOf(events: readonly Timed[]): Map<string, Span> {
  const spans = new Map<string, Span>()
  const parents = new Map<string, string>()
  for (const { draft, sortAt } of events) {
    const span = spans.get(draft.spanId) ?? { children: [], latest: sortAt, order: 0 }
    span.latest = Math.max(span.latest, sortAt)
    spans.set(draft.spanId, span)
    if (draft.parentSpanId !== undefined) parents.set(draft.spanId, draft.parentSpanId)
  }
  const roots: Span[] = []
  for (const [id, span] of spans) {
    const parent = spans.get(parents.get(id) ?? '')
    if (parent && parent !== span) parent.children.push(span)
    else roots.push(span)
  }
  settle(roots)
  return spans
}

/** Gives each span its place, parents first, then the latest time below it; without recursion, since files nest deep. */
function settle(roots: readonly Span[]): void {
  const order: Span[] = []
  const waiting = [...roots]
  for (let span = waiting.pop(); span; span = waiting.pop()) {
    span.order = order.length
    order.push(span)
    for (const child of span.children) waiting.push(child)
  }
  for (const span of order.toReversed())
    for (const child of span.children) span.latest = Math.max(span.latest, child.latest)
}
