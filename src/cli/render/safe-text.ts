// Control characters from a log or a file could move the cursor, colour the terminal or hide text.
const control = /[\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu

/** Makes foreign text of several lines safe to show; its indentation stays. */
export function plainLines(text: string): string {
  return text
    .split('\n')
    .map((line) => line.replaceAll('\t', '  ').replaceAll(control, ' ').trimEnd())
    .join('\n')
}

/** Makes foreign text safe to show inside one line of a terminal. */
export function oneLine(text: string): string {
  return text.replaceAll(control, ' ').trim()
}

/** Makes foreign text safe and keeps its length, each control a space: for what is measured afterwards. */
export function harmless(text: string): string {
  return text.replaceAll(eachControl, ' ')
}

const eachControl = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu

/** Makes text that comes in pieces safe; its lines and indentation stay. */
export function harmlessStream(text: string): string {
  return text.replaceAll('\t', '  ').replaceAll(controlInLine, '')
}

const controlInLine = /[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/gu

/** A command as it can be pasted into a shell: each word is itself there. */
export function shellQuote(argv: readonly string[]): string {
  return argv.map(quoted).join(' ')
}

function quoted(word: string): string {
  const text = oneLine(word)
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
