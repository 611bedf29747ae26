import { closeSync, constants, openSync } from 'node:fs'
import { join } from 'node:path'
import { durableWrites, systemFileOps } from '../src/adapters/jsonl/file-ops.ts'
import type { AgentEvent, Draft } from '../src/contract/event.ts'
import { benchSession } from './support/events.ts'
import { type Figure, median, rate, ratio } from './support/figure.ts'
import { openBenchEngine, operator } from './support/open-engine.ts'
import { withFolder } from './support/temp.ts'

export const about =
  'append of validated, redacted, digested events against a raw append: the same events stringified and written, in the same batches and syncs'

const { O_WRONLY, O_CREAT } = constants
const rounds = 9
const batches = 60
const batchSize = 1000

/** Both sides alternate inside one run, so that a busy machine slows both. */
export async function run(): Promise<Figure[]> {
  return withFolder(async (dir) => {
    const { engine, journal } = await openBenchEngine(join(dir, 'journal'))
    const session = benchSession()
    await engine.propose({ items: [session.started()], by: operator })
    const ours: number[] = []
    const raws: number[] = []
    const copies: number[] = []
    let lineBytes = 0
    for (let round = 0; round < rounds; round++) {
      const before = journal.watermark()
      ours.push(
        await appendAll(
          () => session.batch(batchSize),
          (items) => engine.propose({ items, by: operator }),
        ),
      )
      const page = await journal.page(before, 1000)
      lineBytes = page.reduce((sum, { line }) => sum + line.length + 1, 0) / page.length
      const bytes = Buffer.from(page.map(({ line }) => `${line}\n`).join(''))
      const events = page.map(({ event }) => event)
      raws.push(await writeAll(join(dir, `raw-${round}`), () => stringified(events)))
      copies.push(await writeAll(join(dir, `copy-${round}`), () => bytes))
    }
    await journal.close()
    const count = batches * batchSize
    return [
      { what: 'bytes of a line', value: Math.round(lineBytes), unit: 'B' },
      rate('raw append', count, median(raws)),
      rate('the bytes alone', count, median(copies)),
      rate('append through the engine', count, median(ours), { atLeast: 50_000 }),
      ratio('engine / raw', median(raws.map((raw, i) => raw / (ours[i] as number))), { atLeast: 0.15 }),
      ratio('engine / bytes alone', median(copies.map((copy, i) => copy / (ours[i] as number)))),
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

const stringified = (events: readonly AgentEvent[]): Buffer =>
  Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''))

async function writeAll(path: string, make: () => Buffer): Promise<number> {
  const fd = openSync(path, O_WRONLY | O_CREAT | durableWrites)
  const start = performance.now()
  for (let i = 0, at = 0; i < batches; i++) {
    const bytes = make()
    await systemFileOps.write(fd, bytes, at)
    at += bytes.length
  }
  const ms = performance.now() - start
  closeSync(fd)
  return ms
}
