import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { systemFileOps } from '../src/adapters/jsonl/file-ops.ts'
import type { Draft } from '../src/contract/event.ts'
import { benchSession } from './support/events.ts'
import { type Figure, median, rate, ratio } from './support/figure.ts'
import { openBenchEngine, operator } from './support/open-engine.ts'
import { withFolder } from './support/temp.ts'

export const about =
  'append of validated, redacted events against a raw append of the same bytes, batches and syncs'

const rounds = 15
const batches = 20
const batchSize = 1000

/** Both sides alternate inside one run, so that a busy machine slows both. */
export async function run(): Promise<Figure[]> {
  return withFolder(async (dir) => {
    const { engine, journal } = await openBenchEngine(join(dir, 'journal'))
    const session = benchSession()
    await engine.propose({ items: [session.started()], principal: operator })
    const ours: number[] = []
    const raws: number[] = []
    let lineBytes = 0
    for (let round = 0; round < rounds; round++) {
      const drafts = Array.from({ length: batches }, () => session.batch(batchSize))
      const before = journal.watermark()
      ours.push(await appendAll(drafts, (items) => engine.propose({ items, principal: operator })))
      const page = await journal.page(before, 1000)
      lineBytes = page.reduce((sum, { line }) => sum + line.length + 1, 0) / page.length
      const bytes = Buffer.from(page.map(({ line }) => `${line}\n`).join(''))
      raws.push(await rawAppend(join(dir, `raw-${round}`), bytes))
    }
    await journal.close()
    const count = batches * batchSize
    return [
      { what: 'bytes of a line', value: Math.round(lineBytes), unit: 'B' },
      rate('raw append', count, median(raws)),
      rate('append through the engine', count, median(ours), { atLeast: 50_000 }),
      ratio('engine / raw', median(raws.map((raw, i) => raw / (ours[i] as number))), { atLeast: 0.15 }),
    ]
  })
}

async function appendAll(
  batchesOf: readonly Draft[][],
  append: (items: Draft[]) => Promise<unknown>,
): Promise<number> {
  const start = performance.now()
  const underway: Promise<unknown>[] = []
  for (const items of batchesOf) {
    underway.push(append(items))
    if (underway.length >= 4) await underway.shift()
  }
  await Promise.all(underway)
  return performance.now() - start
}

async function rawAppend(path: string, bytes: Buffer): Promise<number> {
  const fd = openSync(path, 'w')
  const start = performance.now()
  for (let i = 0; i < batches; i++) {
    await systemFileOps.write(fd, bytes, i * bytes.length)
    await systemFileOps.sync(fd)
  }
  const ms = performance.now() - start
  closeSync(fd)
  return ms
}
