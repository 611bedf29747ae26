import type { View } from './command-module.ts'
import { terminalLine, terminalText } from './render/paint.ts'

/**
 * The process as `sm` uses it: results out, messages aside, and word of an interrupt. Nothing but this and the screens of
 * `tui` writes to a terminal, and they let no text but our own act on it.
 */
export type Terminal = {
  /** Writes results; resolves when there is room for more. */
  write(text: string): Promise<void>
  /** Puts results where the last ones stood. */
  redraw(text: string): Promise<void>
  /** Tells one line. */
  say(message: string): void
  progress(message: string): void
  view(color: boolean | undefined): View
  readonly signal: AbortSignal
  readonly isTerminal: boolean
  /** The exit code that an interrupt asks for, once there was one. */
  interrupted(): number | undefined
}

const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

export function openTerminal(process: NodeJS.Process): Terminal {
  const { stdout, stderr, env } = process
  const controller = new AbortController()
  let interrupt: number | undefined
  let isProgressShown = false
  let drawnRows = 0
  // The reader of our pipe has seen enough; that is no failure of ours.
  stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  stderr.on('error', () => {})
  for (const [name, exit] of Object.entries(signals)) {
    process.on(name, () => {
      // A second interrupt means now, whatever the command is still closing.
      if (interrupt !== undefined) process.exit(exit)
      interrupt = exit
      controller.abort()
    })
  }
  const clear = () => {
    if (isProgressShown) stderr.write('\r\u001b[K')
    isProgressShown = false
  }
  const put = (text: string): Promise<void> => {
    clear()
    return new Promise((resolve) => stdout.write(text, () => resolve()))
  }
  return {
    write: (text) => put(terminalText(text)),
    redraw: (text) => {
      const lines = visibleLines(text, stdout.rows)
      const drawn = redrawing(lines, drawnRows)
      drawnRows = lines.length
      return put(drawn)
    },
    say: (message) => {
      clear()
      stderr.write(`${terminalLine(message)}\n`)
    },
    progress: (message) => {
      if (!stderr.isTTY) return
      stderr.write(`\r\u001b[K${terminalLine(message)}`)
      isProgressShown = true
    },
    view: (color) => ({
      width: widthOf(env['COLUMNS'], stdout.columns),
      now: Date.now(),
      color: env['NO_COLOR'] ? false : (color ?? (stdout.isTTY === true && env['TERM'] !== 'dumb')),
    }),
    signal: controller.signal,
    isTerminal: stdout.isTTY === true,
    interrupted: () => interrupt,
  }
}

// Lines that scrolled away cannot be reached again, so no more are drawn than there is room for.
function visibleLines(text: string, rows: number | undefined): string[] {
  const lines = text.split('\n')
  const room = Math.max(1, (rows ?? 24) - 1)
  return lines.length <= room ? lines : [...lines.slice(0, room - 1), '…']
}

/** The text that replaces rows drawn before: each line is overwritten and its rest cleared, so nothing flickers. */
export function redrawing(lines: readonly string[], drawnRows: number): string {
  const back = drawnRows === 0 ? '' : `\u001b[${drawnRows}A\r`
  return `${back}${lines.map((line) => `${terminalLine(line)}\u001b[K\n`).join('')}\u001b[J`
}

/** Whoever reads a pipe gets everything: what would be cut to fit a screen is lost to them. */
const unbounded = 100_000

function widthOf(asked: string | undefined, actual: number | undefined): number {
  const width = Number(asked)
  if (Number.isInteger(width) && width >= 20) return width
  return actual ?? unbounded
}
