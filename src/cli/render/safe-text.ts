import { printableJson, terminalControls } from '../../contract/terminal-controls.ts'

// Control characters from a log or a file could move the cursor, colour the terminal or hide text. The writer of `sm`
// lets none of them through; here they become spaces, so that what is measured and cut is what is shown.
const anyControl = new RegExp(`${terminalControls.source}|[\\n\\t]`, 'gv')
const control = new RegExp(`(?:${anyControl.source})+`, 'gv')

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
  return text.replaceAll(anyControl, ' ')
}

/** Makes text that comes in pieces safe; its lines and indentation stay. */
export function harmlessStream(text: string): string {
  return text.replaceAll('\t', '  ').replaceAll(terminalControls, '')
}

/** A value as JSON that is safe to look at and reads as the same value. */
export function jsonText(value: unknown, indent = 0): string {
  return printableJson(JSON.stringify(value, null, indent) ?? '')
}

/** A command as it can be pasted into a shell: each word is itself there. */
export function shellQuote(argv: readonly string[]): string {
  return argv.map(quoted).join(' ')
}

function quoted(word: string): string {
  const text = oneLine(word)
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
