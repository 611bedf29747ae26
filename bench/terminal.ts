import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { systemClock } from '../src/adapters/system/clock.ts'
import { openTmux } from '../src/adapters/tmux/open-tmux.ts'
import type { PaneRef, Terminal } from '../src/ports/terminal.ts'
import { type Figure, median, ratio } from './support/figure.ts'
import { withFolder } from './support/temp.ts'

export const about =
  'terminals on tmux: open against a bare `tmux new-session -d`, screens of 60 panes, ends of programs'

const rounds = 30
const panes = 60
const never = new AbortController().signal

/** Opens and bare starts alternate, so that a busy machine slows both. */
export async function run(): Promise<Figure[]> {
  const sockets = [`muster-bench-${randomUUID()}`, `muster-bench-${randomUUID()}`] as const
  return withFolder(async (folder) => {
    const terminal = await openTmux({ socket: sockets[0], folder, clock: systemClock })
    const bare = (...args: string[]): string =>
      execFileSync('tmux', ['-L', sockets[1], '-f', '/dev/null', ...args], { encoding: 'utf8' })
    try {
      bare('new-session', '-d', '-s', 'anchor', 'sleep 600')
      const opened = await opens(terminal, folder, bare)
      const screens = await captures(terminal, folder)
      const ends = await endings(terminal, folder)
      return [...opened, ...screens, ...ends]
    } finally {
      await terminal.release()
      for (const socket of sockets) execFileSync('tmux', ['-L', socket, 'kill-server'])
    }
  })
}

const request = (name: string, folder: string, argv: readonly string[]) => ({
  name,
  owner: 'bench',
  argv,
  workingDir: folder,
  env: { PATH: process.env.PATH ?? '' },
  folder: join(folder, 'launch'),
  width: 120,
  height: 40,
})

async function time(act: () => unknown): Promise<number> {
  const start = performance.now()
  await act()
  return performance.now() - start
}

async function opens(
  terminal: Terminal,
  folder: string,
  bare: (...args: string[]) => string,
): Promise<Figure[]> {
  const ours: number[] = []
  const theirs: number[] = []
  for (let i = 0; i < rounds; i++) {
    ours.push(await time(() => terminal.open(request(`open-${i}`, folder, ['sleep', '600']), never)))
    theirs.push(
      await time(() => bare('new-session', '-d', '-s', `open-${i}`, '-x', '120', '-y', '40', 'sleep 600')),
    )
  }
  return [
    { what: 'open', value: round(median(ours)), unit: 'ms' },
    { what: 'tmux new-session -d', value: round(median(theirs)), unit: 'ms' },
    ratio('open / tmux new-session -d', median(ours.map((ms, i) => ms / (theirs[i] as number))), {
      atMost: 3,
    }),
  ]
}

async function captures(terminal: Terminal, folder: string): Promise<Figure[]> {
  const script = 'for i in 1 2 3 4 5 6 7 8 9; do seq -s " " 1 40; done; exec sleep 600'
  const refs = await Promise.all(
    Array.from({ length: panes }, (_, i) =>
      terminal.open(request(`screen-${i}`, folder, ['sh', '-c', script]), never),
    ),
  )
  const all = (): Promise<unknown> => Promise.all(refs.map((pane) => terminal.capture(pane, never)))
  const together: number[] = []
  const lists: number[] = []
  for (let i = 0; i < rounds; i++) {
    together.push(await time(all))
    lists.push(await time(() => terminal.panes(never)))
  }
  return [
    { what: `screens of ${panes} panes`, value: round(median(together)), unit: 'ms', atMost: 100 },
    { what: `a list of ${rounds + panes} panes`, value: round(median(lists)), unit: 'ms' },
  ]
}

/** From the end of a program to the event; a second at most, when tmux itself has missed it. */
async function endings(terminal: Terminal, folder: string): Promise<Figure[]> {
  const waiting = new Map<string, () => void>()
  terminal.listen((event) => event.kind === 'exited' && waiting.get(event.pane)?.())
  const took: number[] = []
  for (let i = 0; i < rounds; i++) {
    const { pid, ...pane }: PaneRef & { pid: number } = await terminal.open(
      request(`end-${i}`, folder, ['sleep', '600']),
      never,
    )
    await systemClock.sleep(50, never)
    const told = new Promise<void>((resolve) => waiting.set(pane.pane, resolve))
    took.push(
      await time(async () => {
        process.kill(pid, 'SIGTERM')
        await told
      }),
    )
  }
  return [
    { what: 'end of a program to its event, median', value: round(median(took)), unit: 'ms' },
    {
      what: 'end of a program to its event, worst',
      value: round(Math.max(...took)),
      unit: 'ms',
      atMost: 2500,
    },
  ]
}

const round = (ms: number): number => Math.round(ms * 10) / 10
