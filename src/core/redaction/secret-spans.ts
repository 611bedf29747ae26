/** A range of text to replace; of two that overlap the lower rank names the class. */
export type Span = {
  readonly start: number
  readonly end: number
  readonly class: string
  readonly rank: number
}

/** Overlapping spans become one; what is already a marker is cut out, so that a second run finds nothing. */
export function settleSpans(spans: readonly Span[], markers: readonly Range[]): Span[] {
  let next = 0
  return merge(spans).flatMap((span) => {
    while (next < markers.length && markers[next]!.end <= span.start) next++
    return without(span, markers, next)
  })
}

/** The text with every span replaced by its marker, each counted. */
export function applySpans(text: string, spans: readonly Span[], counts: Record<string, number>): string {
  let out = ''
  let from = 0
  for (const span of spans) {
    out += text.slice(from, span.start) + marker(span.class)
    from = span.end
    counts[span.class] = (counts[span.class] ?? 0) + 1
  }
  return out + text.slice(from)
}

type Range = { readonly start: number; readonly end: number }

function merge(spans: readonly Span[]): Span[] {
  const sorted = spans.filter((span) => span.end > span.start).sort((a, b) => a.start - b.start)
  const merged: Span[] = []
  for (const span of sorted) {
    const last = merged.at(-1)
    if (last === undefined || span.start >= last.end) {
      merged.push(span)
      continue
    }
    const best = span.rank < last.rank ? span : last
    merged[merged.length - 1] = {
      start: last.start,
      end: Math.max(last.end, span.end),
      class: best.class,
      rank: best.rank,
    }
  }
  return merged
}

function without(span: Span, markers: readonly Range[], first: number): Span[] {
  const parts: Span[] = []
  let start = span.start
  for (let i = first; i < markers.length && markers[i]!.start < span.end; i++) {
    const range = markers[i]!
    if (range.start > start) parts.push({ ...span, start, end: range.start })
    start = range.end
  }
  if (start < span.end) parts.push({ ...span, start })
  return parts
}

/** What stands in the place of a secret. */
export function marker(secretClass: string): string {
  return `[redacted:${secretClass}]`
}

/** Names that may stand in a marker; anything wider could carry a secret inside a forged one. */
export const classPattern = /^[a-z][a-z0-9-]{0,39}$/

/** Finds the markers of these classes and no others. */
export function markerPattern(classes: readonly string[]): RegExp {
  return new RegExp(String.raw`\[redacted:(?:${classes.join('|')})\]`, 'g')
}
