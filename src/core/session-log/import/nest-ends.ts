import { catalogue } from '../../../contract/event.ts'
import type { Timed } from './drafting.ts'

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
