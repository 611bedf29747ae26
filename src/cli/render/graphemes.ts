// Made when it is needed: it takes as long to make as most commands take to run.
let segments: Intl.Segmenter | undefined

/** What people see as characters; each may be many code points. */
export function graphemes(text: string): string[] {
  segments ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })
  return Array.from(segments.segment(text), ({ segment }) => segment)
}
