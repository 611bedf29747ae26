import { AppError } from '../contract/errors.ts'
import { shellLength, shellPieces, shellText } from '../contract/shell-lexer.ts'

/** Splits a text into words as a shell would, with its quotes and backslashes; nothing in it is expanded or run. */
export function shellWords(text: string): string[] {
  const words: string[] = []
  let at = 0
  while (at < text.length) {
    const pieces = shellPieces(text, at, /\s/)
    if (pieces.some(({ isOpen }) => isOpen))
      throw new AppError('invalid', `a quote is not closed in: ${text}`)
    // A backslash at the end of a line by itself is no word.
    if (pieces.some(({ source }) => source !== '\\\n')) words.push(shellText(pieces))
    at += Math.max(1, shellLength(pieces))
  }
  return words
}
