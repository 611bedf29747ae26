/** A sentence of a message and whether it asks. */
export type Sentence = { readonly text: string; readonly isQuestion: boolean }

/** The sentences of a message, without code and quotations: those are not the agent's own words. */
export function sentencesOf(message: string): readonly Sentence[] {
  return withoutQuotes(message)
    .split('\n')
    .flatMap((row) => row.split(/(?<=[.!?…])(?=\s|$)/))
    .map((text) => text.replace(/[*_#>~|]+/g, ' ').trim())
    .filter((text) => /[\p{L}\p{N}]/u.test(text))
    .map((text) => ({ text, isQuestion: /\?\W*$/.test(text) }))
}

const withoutQuotes = (message: string): string =>
  message
    .replace(/```[\s\S]*?(?:```|$)/g, ' ')
    .replace(/`[^`\n]*`/g, ' code ')
    .replace(/"[^"\n]*"|“[^”\n]*”/g, ' quote ')
