import { execFileSync, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { openTmux } from '../../src/adapters/tmux/open-tmux.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { OpenRequest, PaneRef, Terminal, TerminalEvent } from '../../src/ports/terminal.ts'
import { tempFolder } from './temp-journal.ts'

export const never = new AbortController().signal

/** A tmux server of its own for one test, which ends with it. */
export function tempTmux() {
  const socket = `muster-test-${randomUUID()}`
  const folder = tempFolder()
  const env = { PATH: process.env.PATH ?? '', HOME: folder, LANG: 'C.UTF-8' }
  const tmux = (...args: string[]): string =>
    execFileSync('tmux', ['-u', '-L', socket, ...args], { encoding: 'utf8', env, stdio: 'pipe' })
  onTestFinished(() => {
    spawnSync('tmux', ['-L', socket, 'kill-server'], { env })
  })
  return {
    socket,
    folder,
    tmux,
    /** Connects, and records the events from the first on. */
    open: async (clock: Clock = systemClock): Promise<Recorded> => {
      const terminal = await openTmux({ socket, folder, clock })
      onTestFinished(() => terminal.release())
      return record(terminal)
    },
    request: (name: string, argv: readonly string[], more: Partial<OpenRequest> = {}): OpenRequest => ({
      name,
      owner: 'tester',
      argv,
      workingDir: folder,
      env: { PATH: process.env.PATH ?? '' },
      folder: join(folder, 'launch'),
      width: 80,
      height: 24,
      ...more,
    }),
  }
}

export type Recorded = Terminal & {
  readonly events: readonly TerminalEvent[]
  /** The first event that fits, past or to come. */
  event(fits: Partial<TerminalEvent>): Promise<TerminalEvent>
}

export function record(terminal: Terminal): Recorded {
  const events: TerminalEvent[] = []
  const waiting = new Set<() => void>()
  terminal.listen((event) => {
    events.push(event)
    for (const look of waiting) look()
  })
  const isLike = (event: TerminalEvent, fits: Partial<TerminalEvent>): boolean =>
    Object.entries(fits).every(([name, value]) => event[name as keyof TerminalEvent] === value)
  return {
    ...terminal,
    events,
    event: (fits) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = events.find((event) => isLike(event, fits))
          if (found === undefined) return
          waiting.delete(look)
          resolve(found)
        }
        waiting.add(look)
        look()
      }),
  }
}

/** Waits for what no event tells of. */
export const until = (isSo: () => boolean | Promise<boolean>): Promise<unknown> =>
  vi.waitUntil(isSo, { timeout: 120_000, interval: 10 })

/** Waits until the program says by its title that it is ready. */
export const ready = (terminal: Terminal, pane: PaneRef, title = 'ready'): Promise<unknown> =>
  until(async () => (await terminal.capture(pane, never)).title === title)

export const echoTty = join(import.meta.dirname, 'echo-tty.mjs')
