import { AppError } from '../contract/errors.ts'

/** Splits a text into words as a shell would, with its quotes and backslashes; nothing in it is expanded or run. */
export function shellWords(text: string): string[] {
  const words: string[] = []
  const pattern = /\s+|'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])|([^\s'"\\]+)/gy
  let word: string | undefined
  let end = 0
  for (let part = pattern.exec(text); part !== null; part = pattern.exec(text)) {
    end = pattern.lastIndex
    const [, single, double, escaped, plain] = part
    const piece = single ?? (double === undefined ? (escaped ?? plain) : unescaped(double))
    if (piece !== undefined) word = (word ?? '') + piece
    else if (word !== undefined) {
      words.push(word)
      word = undefined
    }
  }
  if (end < text.length) throw new AppError('invalid', `a quote is not closed in: ${text}`)
  return word === undefined ? words : [...words, word]
}

// Between double quotes a backslash means itself, but before these.
function unescaped(text: string): string {
  return text.replaceAll(/\\([$`"\\\n])/g, (_, character: string) => (character === '\n' ? '' : character))
}
