import {
  appendFileSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs, sized } from '../../../test/support/size.ts'
import { batchOf, openJournal, readAll, tempFolder } from '../../../test/support/temp-journal.ts'
import { verifyJournal } from './verify.ts'

const segmentsOf = (dir: string) => readdirSync(join(dir, 'segments')).sort()
const pathOf = (dir: string, i = 0) => join(dir, 'segments', segmentsOf(dir)[i] as string)
const messages = (n: number, from = 0) => Array.from({ length: n }, (_, i) => `message ${from + i}`)

test('[MUS-4][MUS-30] seq has no gap under concurrent appends and only durable events are read', async () => {
  const { journal } = await openJournal(tempFolder())
  const appends = Array.from({ length: 50 }, (_, i) => {
    const done = journal.append(batchOf(journal, messages(1 + (i % 3))))
    expect(journal.watermark()).toBe(0)
    return done
  })
  await Promise.all(appends)
  const all = await readAll(journal)
  expect(all.map((e) => e.seq)).toEqual(Array.from({ length: all.length }, (_, i) => i + 1))
  expect(journal.watermark()).toBe(all.length)
  await journal.close()
})

test('[MUS-25][MUS-36] segments rotate by size, and reading crosses them from any seq', async () => {
  const dir = tempFolder()
  const { journal } = await openJournal(dir, { segmentBytes: 4000 })
  for (let i = 0; i < 60; i++) await journal.append(batchOf(journal, messages(2, i * 2)))
  expect(segmentsOf(dir).length).toBeGreaterThan(3)
  expect(segmentsOf(dir)).toEqual(segmentsOf(dir).toSorted())
  await journal.close()
  const again = await openJournal(dir, { segmentBytes: 4000 })
  expect(again.replayed).toHaveLength(120)
  for (const after of [0, 1, 59, 60, 118, 119, 120])
    expect((await readAll(again.journal, after)).map((e) => e.seq)).toEqual(
      Array.from({ length: 120 - after }, (_, i) => after + i + 1),
    )
  await again.journal.close()
})

test('[MUS-26][MUS-27][MUS-28] cut at any byte, only whole batches come back and the cut bytes are kept', async () => {
  const dir = tempFolder()
  const { journal } = await openJournal(dir)
  const ends: number[] = [statSync(pathOf(dir)).size]
  for (let i = 0; i < 3; i++) {
    await journal.append(batchOf(journal, messages(3, i * 3)))
    ends.push(statSync(pathOf(dir)).size)
  }
  await journal.close()
  const whole = readFileSync(pathOf(dir))
  for (let length = ends[0] as number; length <= whole.length; length += sized(7, 61)) {
    writeFileSync(pathOf(dir), whole.subarray(0, length))
    const opened = await openJournal(dir)
    const batches = ends.filter((end) => end <= length).length - 1
    expect(opened.replayed.map((e) => e.seq)).toEqual(Array.from({ length: batches * 3 }, (_, i) => i + 1))
    const cutBytes = length - (ends[batches] as number)
    expect(opened.cut?.bytes ?? 0).toBe(cutBytes)
    if (opened.cut) expect(readFileSync(opened.cut.keptAs)).toEqual(whole.subarray(ends[batches], length))
    await opened.journal.append(batchOf(opened.journal, ['after']))
    await opened.journal.close()
    expect((await verifyJournal(dir)).damage).toEqual([])
  }
})

test('[MUS-27] a last batch whose blocks read as zeros is cut, not called damaged', async () => {
  const dir = tempFolder()
  const { journal } = await openJournal(dir)
  await journal.append(batchOf(journal, messages(2)))
  const before = statSync(pathOf(dir)).size
  await journal.append(batchOf(journal, messages(2)))
  await journal.close()
  const bytes = readFileSync(pathOf(dir))
  bytes.fill(0, before, before + 100)
  writeFileSync(pathOf(dir), bytes)
  const { journal: again, cut, replayed } = await openJournal(dir)
  expect(replayed).toHaveLength(2)
  expect(cut?.bytes).toBe(bytes.length - before)
  await again.close()
})

test('[MUS-32][MUS-33] a flipped byte anywhere is named by line, and opening refuses without changing the file', async () => {
  const dir = tempFolder()
  const { journal } = await openJournal(dir)
  for (let i = 0; i < 4; i++) await journal.append(batchOf(journal, messages(3, i * 3)))
  await journal.close()
  const whole = readFileSync(pathOf(dir))
  const lines = whole.toString('utf8').split('\n')
  const headerEnd = (lines[0] as string).length + 1
  const lastBatch = whole.lastIndexOf(`\n{"seq":10,`)
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: headerEnd, max: lastBatch }),
      fc.integer({ min: 1, max: 255 }),
      async (at, flip) => {
        const damaged = Buffer.from(whole)
        damaged[at] = (damaged[at] as number) ^ flip
        writeFileSync(pathOf(dir), damaged)
        const { damage } = await verifyJournal(dir)
        expect(damage.length).toBeGreaterThan(0)
        const line = whole.subarray(0, at).toString('utf8').split('\n').length
        // A flip that makes or takes a newline shifts lines by one.
        expect(Math.abs((damage[0]?.line ?? 0) - line)).toBeLessThanOrEqual(3)
        await expect(openJournal(dir)).rejects.toThrow(/is damaged.*sm journal verify/)
        expect(readFileSync(pathOf(dir))).toEqual(damaged)
      },
    ),
    runs(60),
  )
})

test('[MUS-33] the first bad line is named exactly when its content was changed', async () => {
  const dir = tempFolder()
  const { journal } = await openJournal(dir)
  await journal.append(batchOf(journal, messages(5)))
  await journal.append(batchOf(journal, messages(5, 5)))
  await journal.close()
  const text = readFileSync(pathOf(dir), 'utf8')
  writeFileSync(pathOf(dir), text.replace('message 2', 'message X'))
  const { damage } = await verifyJournal(dir)
  expect(damage[0]).toMatchObject({ line: 4, seq: 3, reason: 'the line does not match its digest' })
})

test('[MUS-32] removing, adding, swapping lines or dropping a segment breaks the chain', async () => {
  const dir = tempFolder()
  const { journal } = await openJournal(dir, { segmentBytes: 3000 })
  for (let i = 0; i < 12; i++) await journal.append(batchOf(journal, messages(2, i * 2)))
  await journal.close()
  const original = readFileSync(pathOf(dir), 'utf8')
  const lines = original.trimEnd().split('\n')
  const variants = [
    lines.toSpliced(2, 1),
    lines.toSpliced(2, 0, lines[1] as string),
    lines.with(1, lines[2] as string).with(2, lines[1] as string),
    lines.toSpliced(1, 3),
  ]
  for (const variant of variants) {
    writeFileSync(pathOf(dir), `${variant.join('\n')}\n`)
    expect((await verifyJournal(dir)).damage.length).toBeGreaterThan(0)
  }
  writeFileSync(pathOf(dir), original)
  expect((await verifyJournal(dir)).damage).toEqual([])
  unlinkSync(pathOf(dir, 1))
  expect((await verifyJournal(dir)).damage[0]?.reason).toMatch(/segment is missing/)
})

test('[MUS-34] a second writer is refused, and the lock is free again after close', async () => {
  const dir = tempFolder()
  const { journal } = await openJournal(dir)
  await expect(openJournal(dir)).rejects.toMatchObject({ code: 'conflict' })
  await journal.close()
  await (await openJournal(dir)).journal.close()
})

test('[MUS-34] a lock file that was removed stops the writer before it writes', async () => {
  const dir = tempFolder()
  const { journal } = await openJournal(dir)
  await journal.append(batchOf(journal, ['kept']))
  unlinkSync(join(dir, 'lock.db'))
  const size = statSync(pathOf(dir)).size
  await expect(journal.append(batchOf(journal, ['refused']))).rejects.toThrow(/lock file was removed/)
  expect(statSync(pathOf(dir)).size).toBe(size)
  expect(journal.health()).toBe('poisoned')
})

test('[MUS-35] a segment of a newer format is refused with what to do', async () => {
  const dir = tempFolder()
  await (await openJournal(dir)).journal.close()
  const newer = readFileSync(pathOf(dir), 'utf8').replace(
    '"version":2,"minReader":2',
    '"version":9,"minReader":9',
  )
  writeFileSync(pathOf(dir), newer)
  await expect(openJournal(dir)).rejects.toThrow(/newer Muster.*upgrade/)
})

test('[MUS-52][MUS-53] a start from snapshot and tail sees exactly the rest; a damaged snapshot costs only time', async () => {
  const dir = tempFolder()
  const { journal } = await openJournal(dir, { segmentBytes: 3000 })
  for (let i = 0; i < 10; i++) await journal.append(batchOf(journal, messages(2, i * 2)))
  await journal.snapshot({ at: 20 })
  await journal.append(batchOf(journal, messages(3, 20)))
  await journal.close()
  const second = await openJournal(dir)
  expect(second.restored).toEqual({ at: 20 })
  expect(second.replayed.map((e) => e.seq)).toEqual([21, 22, 23])
  await second.journal.close()
  const [name] = readdirSync(join(dir, 'snapshots'))
  appendFileSync(join(dir, 'snapshots', name as string), 'x')
  const third = await openJournal(dir)
  expect(third.restored).toBeUndefined()
  expect(third.replayed).toHaveLength(23)
  await third.journal.close()
})

test('[MUS-52] a snapshot taken while appends are under way covers exactly the seq it was taken at', async () => {
  const dir = tempFolder()
  const { journal } = await openJournal(dir)
  const first = journal.append(batchOf(journal, messages(5)))
  const saved = journal.snapshot({ upTo: 5 })
  const second = journal.append(batchOf(journal, messages(5, 5)))
  await Promise.all([first, saved, second])
  await journal.append(batchOf(journal, ['last']))
  await journal.close()
  const again = await openJournal(dir)
  expect(again.restored).toEqual({ upTo: 5 })
  expect(again.replayed.map((e) => e.seq)).toEqual([6, 7, 8, 9, 10, 11])
  await again.journal.close()
})

test('[MUS-36] a follower that waits is woken by the append and by nothing else', async () => {
  const { journal } = await openJournal(tempFolder())
  const stop = new AbortController()
  const seen: number[] = []
  const follower = (async () => {
    for (let cursor = 0; cursor < 30; ) {
      await journal.wait(cursor, stop.signal)
      for (const event of await journal.page(cursor, 4)) {
        seen.push(event.seq)
        cursor = event.seq
      }
    }
  })()
  for (let i = 0; i < 10; i++) await journal.append(batchOf(journal, messages(3)))
  await follower
  expect(seen).toEqual(Array.from({ length: 30 }, (_, i) => i + 1))
  const waiting = journal.wait(30, stop.signal)
  stop.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
  await journal.close()
})

test('[MUS-36] a line of 12 MB is written, read back and verified', async () => {
  const dir = tempFolder()
  const { journal } = await openJournal(dir)
  const long = 'é'.repeat(6 << 20)
  await journal.append(batchOf(journal, ['small', long, 'after']))
  await journal.close()
  const again = await openJournal(dir)
  const [, big, after] = await readAll(again.journal, 0, 1)
  expect(JSON.stringify(big?.event.payload) === JSON.stringify({ message: long })).toBe(true)
  expect(after?.seq).toBe(3)
  await again.journal.close()
  expect(await verifyJournal(dir)).toMatchObject({ events: 3, damage: [], tail: undefined })
})

test('[MUS-199] everything of the journal is private to its user', async () => {
  const dir = tempFolder()
  const { journal } = await openJournal(dir)
  await journal.append(batchOf(journal, ['x']))
  for (const name of ['segments', 'blobs', 'snapshots', 'aside'])
    expect(statSync(join(dir, name)).mode & 0o777).toBe(0o700)
  expect(statSync(pathOf(dir)).mode & 0o777).toBe(0o600)
  await journal.close()
})

test('[MUS-27] verify reports an unfinished batch as such, not as damage', async () => {
  const dir = tempFolder()
  const { journal } = await openJournal(dir)
  await journal.append(batchOf(journal, messages(3)))
  await journal.close()
  truncateSync(pathOf(dir), statSync(pathOf(dir)).size - 5)
  const verified = await verifyJournal(dir)
  expect(verified.damage).toEqual([])
  expect(verified.tail?.reason).toMatch(/newline/)
})

test('[MUS-53] a snapshot that the journal does not reach is not used, and where nothing was acknowledged that costs only time', async () => {
  const dir = tempFolder()
  const { journal } = await openJournal(dir)
  await journal.append(batchOf(journal, messages(3)))
  await journal.snapshot({ at: 3 })
  await journal.append(batchOf(journal, messages(3, 3)))
  await journal.snapshot({ at: 6 })
  await journal.close()
  const [, newest] = readdirSync(join(dir, 'snapshots')).sort()
  appendFileSync(join(dir, 'snapshots', newest as string), 'x')
  const again = await openJournal(dir)
  expect(again.restored).toEqual({ at: 3 })
  expect(again.replayed.map((e) => e.seq)).toEqual([4, 5, 6])
  await again.journal.close()
})
