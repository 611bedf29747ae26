const segments = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** What people see as characters; each may be many code points. */
export function graphemes(text: string): string[] {
  return Array.from(segments.segment(text), ({ segment }) => segment)
}
