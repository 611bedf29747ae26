import { terminalControls } from '../../contract/terminal-controls.ts'

const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
  reversed: [7, 27],
} as const
export type Colour = keyof typeof codes

/** Wraps a text in a colour, or leaves it alone when colours are off. */
export type Paint = (colour: Colour, text: string) => string

export function painter(isOn: boolean): Paint {
  return (colour, text) => {
    const [begin, end] = codes[colour]
    return isOn && text !== '' ? `${marked(begin)}${text}${marked(end)}` : text
  }
}

// Our own colours carry this number. It never leaves the process, so no text from elsewhere can contain it.
const mark = Math.floor(Math.random() * 2 ** 48)
const marked = (code: number): string => `\u001b[${mark};${code}m`
const markedOrControl = new RegExp(`\\u001b\\[${mark};(\\d+)m|${terminalControls.source}`, 'gv')

/**
 * A text as it may reach a terminal: its words and lines, in the colours that a painter gave it. Whatever else acts on a
 * terminal is left out, whoever wrote it. All that `sm` prints goes through here.
 */
export function terminalText(text: string): string {
  return text.replaceAll(markedOrControl, (_, code: string | undefined) =>
    code === undefined ? '' : `\u001b[${code}m`,
  )
}

/** The same for one line. */
export function terminalLine(text: string): string {
  return terminalText(text.replaceAll(/\r?\n|\t/g, ' '))
}

/** A line of a diff in the colours that git gives it. */
export function paintedDiff(line: string, paint: Paint): string {
  if (/^(\+\+\+|---|diff |index )/.test(line)) return paint('bold', line)
  if (line.startsWith('@@')) return paint('cyan', line)
  return line.startsWith('+') ? paint('green', line) : line.startsWith('-') ? paint('red', line) : line
}
