import { Journal } from '../src/adapters/jsonl/journal.ts'
import { Engine } from '../src/engine/engine.ts'
import { benchSession } from './support/events.ts'
import { type Figure, median, rate, ratio } from './support/figure.ts'
import { journalOptions, openBenchEngine, operator } from './support/open-engine.ts'
import { withFolder } from './support/temp.ts'

export const about =
  'opening a journal without a snapshot (read, verify, parse, fold) against bare JSON.parse of its lines'

const events = 300_000

export async function run(): Promise<Figure[]> {
  return withFolder(async (dir) => {
    const { engine, journal } = await openBenchEngine(dir)
    const session = benchSession()
    await engine.propose({ items: [session.started()], by: operator })
    for (let i = 0; i < events; i += 1000) await engine.propose({ items: session.batch(1000), by: operator })
    const lines: string[] = []
    for (let after = 0; ; ) {
      const page = await journal.page(after, 1000)
      if (page.length === 0) break
      for (const { line, seq } of page) {
        lines.push(line)
        after = seq
      }
    }
    await journal.close()
    const parses: number[] = []
    const replays: number[] = []
    for (let round = 0; round < 3; round++) {
      parses.push(parseAll(lines))
      replays.push(await replayAll(dir))
    }
    return [
      rate('JSON.parse', lines.length, median(parses)),
      rate('replay', lines.length, median(replays)),
      ratio('replay / JSON.parse', median(parses.map((parse, i) => parse / (replays[i] as number))), {
        atLeast: 0.4,
      }),
    ]
  })
}

function parseAll(lines: readonly string[]): number {
  const start = performance.now()
  for (const line of lines) JSON.parse(line)
  return performance.now() - start
}

async function replayAll(dir: string): Promise<number> {
  const start = performance.now()
  const journal = await Journal.open(journalOptions(dir))
  const engine = new Engine({ journal } as unknown as ConstructorParameters<typeof Engine>[0])
  await journal.load(engine.replay)
  const ms = performance.now() - start
  await journal.close()
  return ms
}
