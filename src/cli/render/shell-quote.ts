import { oneLine } from './one-line.ts'

/** A command as it can be pasted into a shell: each word is itself there. */
export function shellQuote(argv: readonly string[]): string {
  return argv.map(quoted).join(' ')
}

function quoted(word: string): string {
  const text = oneLine(word)
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
