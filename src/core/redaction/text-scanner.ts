import type { Detector } from './detector.ts'
import {
  brokenForms,
  brokenOccurrences,
  createTailFinder,
  type JoinedText,
  joinBroken,
  knownValueClass,
  occurrences,
  type SecretForm,
} from './known-values.ts'
import { createPrefilter } from './prefilter.ts'
import { applySpans, markerPattern, type Span, settleSpans } from './secret-spans.ts'

/** What finds secrets in one text; events and streams are built on it. */
export type TextScanner = {
  /** False for most texts, and cheap: no detector needs to look at this one. */
  readonly suspects: (text: string) => boolean
  /** Ranges to replace, in order, apart from each other and from what is already a marker. */
  readonly spans: (text: string, extra?: readonly Span[]) => Span[]
  /** Ranges of known values only. */
  readonly knownSpans: (text: string) => Span[]
  /** The text without its secrets, each counted; running it again changes nothing. */
  readonly redact: (text: string, counts: Record<string, number>, extra?: readonly Span[]) => string
  /** The same, or nothing when on the way to it more text could have changed the answer. */
  readonly redactSettled: (text: string) => string | undefined
  /** The index from which more text could change the answer, or the length of the text. */
  readonly undecidedFrom: (text: string) => number
  readonly isMarker: (text: string) => boolean
  readonly isAllowed: (secret: string) => boolean
}

/** `detectors` in order of precedence; known values outrank them all. */
export function createTextScanner(options: {
  readonly detectors: readonly Detector[]
  readonly forms: readonly SecretForm[]
  readonly classes: readonly string[]
  readonly allow: readonly RegExp[]
}): TextScanner {
  const { detectors, forms } = options
  const always = detectors.flatMap((detector, index) => (detector.anchors.length === 0 ? [index] : []))
  const broken = brokenForms(forms)
  const prefilter = createPrefilter([
    ...detectors.flatMap((detector, owner) => detector.anchors.map((anchor) => ({ ...anchor, owner }))),
    ...forms.map((form, index) => ({ text: form.text, owner: detectors.length + index })),
    ...broken.flatMap(({ parts }, index) =>
      parts.map((text) => ({ text, owner: detectors.length + forms.length + index })),
    ),
  ])
  const markers = markerPattern(options.classes)
  const wholeMarker = new RegExp(`^${markers.source}$`)
  const tailFrom = createTailFinder(forms)
  const isAllowed = (secret: string): boolean => options.allow.some((pattern) => pattern.test(secret))

  const collect = (text: string, owners: readonly number[]): Span[] => {
    const spans: Span[] = []
    const add = (span: Span): void => {
      if (options.allow.length === 0 || !isAllowed(text.slice(span.start, span.end))) spans.push(span)
    }
    let joined: JoinedText | undefined
    for (const rank of owners) {
      const detector = detectors[rank]
      if (detector !== undefined) {
        detector.scan(text, (start, end, name) => add({ start, end, class: name, rank }))
        continue
      }
      const form = forms[rank - detectors.length]
      joined ??= form === undefined ? joinBroken(text) : undefined
      const ranges =
        form === undefined
          ? brokenOccurrences(joined!, broken[rank - detectors.length - forms.length]!.form)
          : occurrences(text, form)
      for (const range of ranges) add({ ...range, class: knownValueClass, rank: -1 })
    }
    return spans
  }

  const spans = (text: string, extra: readonly Span[] = []): Span[] => {
    const found = prefilter.find(text)
    if (found.length === 0 && always.length === 0 && extra.length === 0) return []
    const all = [...collect(text, always), ...collect(text, found), ...extra]
    return all.length === 0 ? [] : settleSpans(all, markerRanges(text, markers))
  }

  const undecidedFrom = (text: string): number => {
    let from = tailFrom(text)
    for (const owner of prefilter.find(text)) {
      from = Math.min(from, detectors[owner]?.scan(text, ignore) ?? from)
    }
    return from
  }

  return {
    suspects: (text) => prefilter.find(text).length > 0,
    spans,
    knownSpans: (text) =>
      collect(
        text,
        prefilter.find(text).filter((owner) => owner >= detectors.length),
      ),
    redact(text, counts, extra) {
      let current = text
      let next = spans(text, extra)
      // A marker can uncover a boundary for another rule; each round leaves less to replace.
      while (next.length > 0) {
        current = applySpans(current, next, counts)
        next = spans(current)
      }
      return current
    },
    redactSettled(text) {
      let current = text
      let next = spans(text)
      while (undecidedFrom(current) === current.length) {
        if (next.length === 0) return current
        current = applySpans(current, next, {})
        next = spans(current)
      }
      return undefined
    },
    undecidedFrom,
    isMarker: (text) => wholeMarker.test(text),
    isAllowed,
  }
}

function ignore(): void {}

function markerRanges(text: string, pattern: RegExp): { start: number; end: number }[] {
  return Array.from(text.matchAll(pattern), (match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }))
}
