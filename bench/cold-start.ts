import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startDaemonProcess } from '../test/support/daemon-process.ts'
import { benchSession } from './support/events.ts'
import { type Figure, median } from './support/figure.ts'
import { openBenchEngine, operator } from './support/open-engine.ts'
import { withFolder } from './support/temp.ts'

export const about =
  'from starting the daemon to its first answer, with 10 million events and no clean stop before'

const events = 10_000_000
const sessionEvents = 100_000
const starts = 3

export async function run(): Promise<Figure[]> {
  return withFolder(async (dir) => {
    const empty = await timeStarts(join(dir, 'empty'))
    const home = join(dir, 'full')
    await fill(join(home, 'journal'))
    const full = await timeStarts(home)
    return [
      { what: 'start with no events', value: Math.round(empty), unit: 'ms' },
      {
        what: `start with ${events.toLocaleString('en-US')} events`,
        value: Math.round(full),
        unit: 'ms',
        atMost: 3000,
      },
    ]
  })
}

/** Snapshots only where the daemon takes them, at rotation: what is measured is the start after a kill. */
async function fill(dir: string): Promise<void> {
  const { engine, journal } = await openBenchEngine(dir)
  journal.onRotate(() => void journal.snapshot(engine.snapshot()))
  for (let written = 0; written < events; written += sessionEvents) {
    const session = benchSession()
    await engine.propose({ items: [session.started()], by: operator })
    for (let i = 0; i < sessionEvents; i += 1000)
      await engine.propose({ items: session.batch(1000), by: operator })
  }
  await journal.close()
}

/** Killed each time, so that no start profits from the stop before it. */
async function timeStarts(home: string): Promise<number> {
  mkdirSync(home, { recursive: true })
  const times: number[] = []
  for (let i = 0; i < starts; i++) {
    const start = performance.now()
    const daemon = await startDaemonProcess(home)
    await daemon.client.health({})
    times.push(performance.now() - start)
    await daemon.kill('SIGKILL')
  }
  return median(times)
}
