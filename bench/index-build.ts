import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Journal } from '../src/adapters/jsonl/journal.ts'
import { homeFiles } from '../src/daemon/home.ts'
import { IndexThread } from '../src/daemon/index-thread.ts'
import type { Engine } from '../src/engine/engine.ts'
import { benchSession } from './support/events.ts'
import { type Figure, rate } from './support/figure.ts'
import { openBenchEngine, operator } from './support/open-engine.ts'
import { withFolder } from './support/temp.ts'

export const about =
  'the index behind the journal: lag under a steady 10,000 events/s, catching up after a burst of 500,000'

const steadyPerSecond = 10_000
const steadySeconds = 10
const burst = 500_000
const never = new AbortController().signal

type Bench = { readonly engine: Engine; readonly journal: Journal; readonly thread: IndexThread }

export async function run(): Promise<Figure[]> {
  return withFolder(async (dir) => {
    const { engine, journal } = await openBenchEngine(join(dir, 'journal'))
    const thread = new IndexThread(homeFiles(dir), {
      bug: (error) => {
        throw error
      },
      parked: (follower, { seq, error }) => {
        throw new Error(`${follower} parked ${seq}: ${error}`)
      },
      rebuilt: () => {},
    })
    thread.start(0)
    journal.onDurable((watermark) => thread.advance(watermark))
    const session = benchSession()
    await engine.propose({ items: [session.started()], by: operator })
    await thread.reached(1, never)
    const bench = { engine, journal, thread }
    const worstLagMs = await steady(bench, session)
    const burstFigures = await catchUp(bench, session)
    await thread.stop()
    await journal.close()
    return [
      { what: 'worst lag at 10,000 events/s', value: Math.round(worstLagMs), unit: 'ms', atMost: 1000 },
      ...burstFigures,
    ]
  })
}

/** Appends at a fixed rate; the lag of an event is the time from its append to the report that the index has it. */
async function steady(
  { engine, journal, thread }: Bench,
  session: ReturnType<typeof benchSession>,
): Promise<number> {
  const tickMs = 20
  const perTick = (steadyPerSecond * tickMs) / 1000
  const waits: Promise<number>[] = []
  const start = performance.now()
  for (let tick = 0; tick < (steadySeconds * 1000) / tickMs; tick++) {
    await engine.propose({ items: session.batch(perTick), by: operator })
    const at = performance.now()
    if (tick % 10 === 0)
      waits.push(thread.reached(journal.watermark(), never).then(() => performance.now() - at))
    const due = start + (tick + 1) * tickMs - performance.now()
    if (due > 0) await sleep(due)
  }
  return Math.max(...(await Promise.all(waits)))
}

async function catchUp(
  { engine, journal, thread }: Bench,
  session: ReturnType<typeof benchSession>,
): Promise<Figure[]> {
  await thread.reached(journal.watermark(), never)
  const indexed = () => thread.reports().find((report) => report.name === 'index')?.seq ?? 0
  const start = performance.now()
  for (let i = 0; i < burst; i += 1000) await engine.propose({ items: session.batch(1000), by: operator })
  const appendMs = performance.now() - start
  const duringAppend = indexed()
  const from = performance.now()
  await thread.reached(journal.watermark(), never)
  const restMs = performance.now() - from
  const rest = journal.watermark() - duringAppend
  return [
    rate('append during the burst', burst, appendMs, { atLeast: 50_000 }),
    rate('index catching up', rest, restMs, { atLeast: 20_000 }),
    rate('index over the whole burst', burst, appendMs + restMs),
  ]
}
