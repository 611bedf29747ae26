import { setTimeout as sleep } from 'node:timers/promises'
import { boxRows } from './box.ts'
import type { Weather } from './weather.ts'

/** What is to be seen. */
export type View = {
  readonly said: readonly string[]
  readonly box: string
  readonly isWorking: boolean
  readonly dialog: string | undefined
  /** The input line is being set up anew and not to be seen. */
  readonly isHidden: boolean
  readonly isSmeared: boolean
}

/** Draws the newest view, late and sometimes in two pieces. */
export function painter(view: () => View, weather: Weather): () => void {
  let isWanted = false
  let isPainting = false
  const paint = async (): Promise<void> => {
    isPainting = true
    while (isWanted) {
      await sleep(weather.drawDelayMs())
      isWanted = false
      const { head, tail } = frame(view())
      const tornMs = weather.tornMs()
      if (tornMs > 0) {
        process.stdout.write(`${head}\u001b[J`)
        await sleep(tornMs)
        process.stdout.write(tail)
      } else process.stdout.write(head + tail)
    }
    isPainting = false
  }
  return () => {
    isWanted = true
    if (!isPainting) void paint()
  }
}

function frame({ said, box, isWorking, dialog, isHidden, isSmeared }: View): { head: string; tail: string } {
  const { columns, rows } = process.stdout
  // Without the lines around it, nobody can tell where the box is.
  const line = process.env['FAKE_TUI_UNREADABLE'] ? '' : '─'.repeat(columns - 10)
  const typed = boxRows(box, columns)
  const below = isHidden
    ? []
    : dialog === undefined
      ? [
          line === '' ? '' : `${line} fake ─`,
          `❯\u00a0${typed[0] ?? ''}${isSmeared ? 'o      s' : ''}`,
          ...typed.slice(1).map((row) => `  ${row}`),
          line,
          isWorking ? '  esc to interrupt' : '  ? for shortcuts',
        ]
      : [
          line,
          ' Bash command',
          '',
          `   ${dialog}`,
          '',
          ' Do you want to proceed?',
          ' ❯ 1. Yes',
          '   2. No',
          '',
        ]
  const above = [
    ...said.slice(-8).map((text) => `❯ ${text.slice(0, 60)}`),
    '',
    isWorking ? '✻ Thinking…' : '',
  ]
  const filler = Math.max(0, Math.min(3, rows - above.length - below.length - 1))
  const top = [...above, ...Array.from({ length: filler }, () => '')]
  const at = { row: top.length + 1 + typed.length, column: 3 + widthOf(typed.at(-1) ?? '') }
  return {
    head: `\u001b[?25l\u001b[H${drawn(top)}`,
    tail: `${drawn(below)}\u001b[J\u001b[${at.row};${at.column}H\u001b[?25h`,
  }
}

const drawn = (lines: readonly string[]): string => lines.map((line) => `${line}\u001b[K\r\n`).join('')

function widthOf(row: string): number {
  let width = 0
  for (const char of row)
    width += char < '\u0300' ? 1 : /\p{M}|\p{Cf}/u.test(char) ? 0 : char > '\u1100' ? 2 : 1
  return width
}
