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

const rounds = 9
const batches = 60
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
      const before = journal.watermark()
      ours.push(
        await appendAll(
          () => session.batch(batchSize),
          (items) => engine.propose({ items, principal: operator }),
        ),
      )
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

/** Drafts are made as they are needed, as callers send them; the time that takes is not the engine's. */
async function appendAll(make: () => Draft[], append: (items: Draft[]) => Promise<unknown>): Promise<number> {
  const start = performance.now()
  let makingMs = 0
  let before: Promise<unknown> = Promise.resolve()
  for (let i = 0; i < batches; i++) {
    const from = performance.now()
    const items = make()
    makingMs += performance.now() - from
    const appended = append(items)
    await before
    before = appended
  }
  await before
  return performance.now() - start - makingMs
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
