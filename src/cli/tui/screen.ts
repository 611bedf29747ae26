import { terminalLine } from '../render/paint.ts'
import { HeldTerminal, type Size, type TerminalListener } from './held-terminal.ts'

// The other screen, no cursor, no wrapping of what is a column too wide, and pastes marked as such.
const codes = {
  enter: '\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[?2004h',
  leave: '\u001b[0m\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[?1049l',
}

/** The terminal as a full screen: keys in, frames out. */
export class Screen {
  readonly #held: HeldTerminal
  #shown: readonly string[] | undefined

  constructor(process: NodeJS.Process, listener: Omit<TerminalListener, 'entered'>) {
    this.#held = new HeldTerminal(process, codes, {
      ...listener,
      resized: (size) => {
        this.forget()
        listener.resized(size)
      },
      entered: () => this.forget(),
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

  close(): void {
    this.#held.close()
  }

  lend<T>(run: () => Promise<T>): Promise<T> {
    return this.#held.lend(run)
  }

  suspend(): void {
    this.#held.suspend()
  }

  /** Draws a frame: only what differs from the last one, in one write. */
  show(lines: readonly string[]): void {
    if (!this.isIn) return
    const update = frameUpdate(this.#shown, lines)
    this.#shown = lines
    this.#held.write(update)
  }

  /** The next frame is drawn whole. */
  forget(): void {
    this.#shown = undefined
  }
}

const begin = '\u001b[?2026h'
const end = '\u001b[?2026l'

/** What has to be written to turn one screen into another: only the lines that differ, in one piece. */
export function frameUpdate(shown: readonly string[] | undefined, wanted: readonly string[]): string {
  const isAnew = shown?.length !== wanted.length
  // Cleared before it is written: after a full line the cursor is still on its last column.
  const changed = wanted.flatMap((line, row) =>
    !isAnew && shown[row] === line ? [] : [`\u001b[${row + 1};1H\u001b[K${terminalLine(line)}\u001b[0m`],
  )
  if (changed.length === 0 && !isAnew) return ''
  return begin + (isAnew ? '\u001b[0m\u001b[H\u001b[2J' : '') + changed.join('') + end
}
