/** One import of a file: what it names, and whether it is loaded only when the code gets there. */
export type Import = { readonly target: string; readonly isLazy: boolean; readonly line: number }

// Only the quotes are looked for: the text between them is blank, and is read from the source.
const forms = [
  { pattern: /\bfrom\s*(?=['"])/g, isLazy: false },
  { pattern: /\bimport\s*(?=['"])/g, isLazy: false },
  { pattern: /\b(?:import|require)\s*\(\s*(?=['"`])/g, isLazy: true },
] as const
const computed = /\b(?:import|require)\s*\(\s*(?!['"`\s])/g

/** Finds the imports of a file in every form; `code` is its source with comments and strings blanked. */
export function readImports(source: string, code: string): Import[] {
  const found = forms.flatMap(({ pattern, isLazy }) =>
    [...code.matchAll(pattern)].map((match) => {
      const quote = match.index + match[0].length
      const end = source.indexOf(source[quote] ?? '', quote + 1)
      return { target: source.slice(quote + 1, end), isLazy, line: lineAt(source, quote) }
    }),
  )
  // A computed import could name anything, so it counts as one that no table allows.
  const unreadable = [...code.matchAll(computed)].map((match) => ({
    target: '',
    isLazy: true,
    line: lineAt(source, match.index),
  }))
  return [...found, ...unreadable].sort((a, b) => a.line - b.line)
}

/** The number of the line that a position lies in, from 1. */
export function lineAt(source: string, position: number): number {
  let line = 1
  for (let i = 0; i < position; i++) if (source[i] === '\n') line++
  return line
}
