import { terminalLine } from '../render/paint.ts'
import { textWidth } from '../render/text-width.ts'
import { HeldTerminal, type Size, type TerminalListener } from './held-terminal.ts'

/** Lines with the place of the cursor among them. */
export type Placed = {
  readonly lines: readonly string[]
  readonly cursor: { readonly row: number; readonly column: number }
}

// Pastes are marked as such; the screen stays the one that scrolls.
const codes = { enter: '\u001b[?2004h', leave: '\u001b[0m\u001b[?2004l\u001b[?25h' }

/** The end of the terminal that scrolls: lines that stay, and below them an end that is drawn anew. */
export class InlineScreen {
  readonly #held: HeldTerminal
  #drawn: Placed | undefined
  #kept: string[] = []

  constructor(process: NodeJS.Process, listener: Omit<TerminalListener, 'entered'>) {
    this.#held = new HeldTerminal(process, codes, {
      ...listener,
      resized: (size) => {
        this.#drawn = reflowed(this.#drawn, size.columns)
        listener.resized(size)
      },
      entered: () => {
        this.#drawn = undefined
      },
    })
  }

  get isIn(): boolean {
    return this.#held.isIn
  }

  size(): Size {
    return this.#held.size()
  }

  open(): void {
    this.#held.open()
  }

  /** Takes the changing end away, leaves what stays, and gives the terminal back. */
  close(last: readonly string[]): void {
    this.keep(last)
    this.#flush()
    this.#held.close()
  }

  suspend(): void {
    this.#flush()
    this.#held.suspend()
  }

  /** Puts lines above the changing end for good, with the next drawing. */
  keep(lines: readonly string[]): void {
    this.#kept.push(...lines)
  }

  show(end: Placed): void {
    this.#held.write(drawing(this.#drawn, this.#kept, end))
    this.#drawn = end
    this.#kept = []
  }

  /** Empties what can be seen. */
  clear(): void {
    this.#held.write('\u001b[H\u001b[2J')
    this.#drawn = undefined
  }

  #flush(): void {
    this.#held.write(drawing(this.#drawn, this.#kept, undefined))
    this.#drawn = undefined
    this.#kept = []
  }
}

const begin = '\u001b[?2026h\u001b[?25l'
const end = '\u001b[?25h\u001b[?2026l'

/** What has to be written to put lines on the screen for good, and the changing end below them anew. */
export function drawing(
  drawn: Placed | undefined,
  out: readonly string[],
  wanted: Placed | undefined,
): string {
  if (out.length === 0 && drawn !== undefined && wanted !== undefined && isSame(drawn, wanted)) return ''
  const up = drawn === undefined || drawn.cursor.row === 0 ? '' : `\u001b[${drawn.cursor.row}A`
  // Cleared before it is written: after a full line the cursor is still on its last column.
  const line = (text: string) => `\u001b[K${terminalLine(text)}\u001b[0m`
  const kept = out.map((text) => `${line(text)}\r\n`).join('')
  const below = wanted === undefined ? '' : wanted.lines.map(line).join('\r\n')
  return `${begin}${up}\r${kept}${below}\u001b[J${wanted === undefined ? '' : placed(wanted)}${end}`
}

/** From the end of the last line to where the cursor belongs. */
function placed({ lines, cursor }: Placed): string {
  const back = lines.length - 1 - cursor.row
  return `${back > 0 ? `\u001b[${back}A` : ''}\r${cursor.column > 0 ? `\u001b[${cursor.column}C` : ''}`
}

/** What was drawn as it stands after the terminal became narrower: it has broken the lines that no longer fit. */
export function reflowed(drawn: Placed | undefined, columns: number): Placed | undefined {
  if (drawn === undefined) return undefined
  const rowsOf = (line: string) => Math.max(1, Math.ceil(textWidth(line) / Math.max(1, columns)))
  const above = drawn.lines.slice(0, drawn.cursor.row).reduce((sum, line) => sum + rowsOf(line), 0)
  const row = above + Math.floor(drawn.cursor.column / Math.max(1, columns))
  return { lines: [], cursor: { row, column: drawn.cursor.column } }
}

const isSame = (a: Placed, b: Placed): boolean =>
  a.cursor.row === b.cursor.row &&
  a.cursor.column === b.cursor.column &&
  a.lines.length === b.lines.length &&
  a.lines.every((line, i) => line === b.lines[i])
