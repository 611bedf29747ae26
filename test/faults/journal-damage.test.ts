import { readFileSync, rmSync, statSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { setAsideDamage } from '../../src/adapters/jsonl/set-aside.ts'
import { verifyJournal } from '../../src/adapters/jsonl/verify.ts'
import {
  copyOf,
  damages,
  flipBit,
  openAgain,
  packsOf,
  segmentsOf,
  streamed,
  total,
  wholeJournal,
} from '../support/damaged-journal.ts'
import { shared } from '../support/shared.ts'
import { runs, sampled } from '../support/size.ts'
import { batchOf } from '../support/temp-journal.ts'

/** One journal for all tests of this file, and its lines as a stream gives them while nothing is wrong. */
const original = shared(async () => {
  const whole = await wholeJournal()
  const { journal } = await openAgain(copyOf(whole))
  const { lines } = await streamed(journal)
  await journal.close()
  return { whole, all: lines }
})
const seqOf = (line: string) => (JSON.parse(line) as { seq: number }).seq

test('[MUS-299][MUS-302] a journal that nobody harmed is told to be whole', async () => {
  const { whole, all } = await original()
  expect(all.map(seqOf)).toEqual(Array.from({ length: total }, (_, i) => i + 1))
  expect(segmentsOf(whole).length).toBeGreaterThan(4)
  const { journal } = await openAgain(copyOf(whole))
  expect([journal.health(), journal.findings()]).toEqual(['ok', []])
  await journal.close()
  const found = await verifyJournal(whole, { knownSeq: total })
  expect(found).toMatchObject({ events: total, blobs: total / 3, damage: [], tail: undefined })
})

test.each(damages)('[MUS-302] verify finds $what, by file and offset', async ({ harm, knownSeq = 0 }) => {
  const dir = copyOf((await original()).whole)
  harm(dir)
  const { damage } = await verifyJournal(dir, { knownSeq })
  expect(damage.length).toBeGreaterThan(0)
  for (const { file, offset, reason } of damage) {
    expect(file).toContain(dir)
    expect(offset).toBeGreaterThanOrEqual(0)
    expect(reason).not.toBe('')
  }
})

test.each(damages)(
  '[MUS-299][MUS-300] a start with $what is $start',
  async ({ harm, start, knownSeq = 0 }) => {
    const dir = copyOf((await original()).whole)
    harm(dir)
    if (start === 'refused') {
      const before = segmentsOf(dir).map((path) => readFileSync(path, 'utf8'))
      await expect(openAgain(dir, knownSeq)).rejects.toMatchObject({
        code: 'failed',
        message: expect.stringMatching(/sm journal verify --set-aside|upgrade this one/),
      })
      expect(segmentsOf(dir).map((path) => readFileSync(path, 'utf8'))).toEqual(before)
      return
    }
    const { journal } = await openAgain(dir, knownSeq)
    expect(journal.health()).toBe(start === 'told' ? 'damaged' : 'ok')
    for (const { file, reason } of journal.findings()) expect([file, reason]).not.toContain('')
    expect(journal.nextSeq()).toBe(total + 1)
    await journal.append(batchOf(journal, ['after']))
    // What was found is remembered: a restart does not take the damage for what is to be there.
    await journal.snapshot({ later: true })
    const told = journal.findings()
    await journal.close()
    const again = await openAgain(dir, knownSeq)
    expect(again.journal.findings()).toEqual(told)
    expect(again.journal.nextSeq()).toBe(total + 2)
    await again.journal.close()
  },
)

test('[MUS-299] whichever bit of a closed segment is flipped, reading one after the other again finds it, once', async () => {
  const { whole } = await original()
  const closed = segmentsOf(whole).slice(0, -1)
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: closed.length - 1 }),
      fc.nat(),
      fc.nat({ max: 7 }),
      async (i, place, bit) => {
        const dir = copyOf(whole)
        const { journal } = await openAgain(dir)
        const path = segmentsOf(dir)[i] as string
        flipBit(path, place % statSync(path).size, bit)
        const found: string[] = []
        for (let n = 0; n < 2 * closed.length; n++) found.push((await journal.readOneAgain())?.file ?? '')
        expect(found.filter((file) => file !== '')).toEqual([path])
        expect(journal.health()).toBe('damaged')
        expect(journal.findings()).toMatchObject([{ file: path }])
        await journal.close()
      },
    ),
    runs(100),
  )
})

test('[MUS-299] a journal that nobody harmed is read again without a finding, also its newest segments', async () => {
  const { journal } = await openAgain(copyOf((await original()).whole))
  for (let n = 0; n < 12; n++) {
    for (let i = 0; i < 4; i++) await journal.append(batchOf(journal, [`more ${n} ${'x'.repeat(500)}`]))
    expect(await journal.readOneAgain()).toBeUndefined()
  }
  expect(journal.health()).toBe('ok')
  await journal.close()
})

test.each(
  sampled(
    damages.filter(({ start }) => start !== 'refused'),
    4,
  ),
)(
  '[MUS-301] a stream over a journal with $what gives each event as it was or says that it is missing',
  async ({ harm, isHole = false }) => {
    const { whole, all } = await original()
    const dir = copyOf(whole)
    harm(dir)
    const { journal } = await openAgain(dir)
    const { lines, missing } = await streamed(journal)
    await journal.close()
    expect(all).toEqual(expect.arrayContaining(lines))
    expect(new Set([...lines.map(seqOf), ...missing]).size).toBe(total)
    expect(missing.length > 0).toBe(isHole)
  },
)

test.each(sampled(damages, 6))(
  '[MUS-300][MUS-33] the loss of $what is accepted by a person: it opens, and no seq is given again',
  async ({ harm, isByHand = false, knownSeq = 0 }) => {
    const { whole, all } = await original()
    const dir = copyOf(whole)
    harm(dir)
    if (isByHand) {
      await expect(setAsideDamage(dir, knownSeq)).rejects.toThrow(/remove it and run this again|upgrade/)
      for (const path of segmentsOf(dir).slice(1, 3)) rmSync(path)
    }
    await setAsideDamage(dir, knownSeq)
    const after = await verifyJournal(dir, { knownSeq })
    expect(after.damage.filter(({ file }) => !file.endsWith('.pack'))).toEqual([])
    const { journal, restored } = await openAgain(dir, knownSeq)
    expect([journal.health(), journal.nextSeq()]).toEqual(['ok', total + 1])
    if (knownSeq === 0) expect(restored).toEqual({ at: total })
    const { lines, missing } = await streamed(journal)
    expect(all).toEqual(expect.arrayContaining(lines))
    expect(new Set([...lines.map(seqOf), ...missing]).size).toBe(total)
    await journal.append(batchOf(journal, ['after']))
    await journal.close()
    const again = await openAgain(dir, knownSeq)
    expect(again.journal.nextSeq()).toBe(total + 2)
    await again.journal.close()
  },
)

test('[MUS-301][MUS-302] whichever bit is flipped, verify finds it, and no reader is given what was not written', async () => {
  const { whole, all } = await original()
  const files = [...segmentsOf(whole), ...packsOf(whole)].map((path) => ({
    name: path.slice(whole.length),
    bytes: statSync(path).size,
  }))
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  const dir = copyOf(whole)
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: bytes - 1 }), fc.nat({ max: 7 }), async (place, bit) => {
      let offset = place
      let i = 0
      while (offset >= (files[i]?.bytes ?? 0)) offset -= files[i++]?.bytes ?? 0
      const path = `${dir}${files[i]?.name}`
      flipBit(path, offset, bit)
      try {
        expect((await verifyJournal(dir)).damage).not.toEqual([])
        const fresh = copyOf(dir)
        const opened = await openAgain(fresh).catch((error: unknown) => String(error))
        if (typeof opened === 'string') return expect(opened).toMatch(/sm journal verify|upgrade this one/)
        const { lines, missing } = await streamed(opened.journal)
        expect(all).toEqual(expect.arrayContaining(lines))
        expect(new Set([...lines.map(seqOf), ...missing]).size).toBe(total)
        expect(opened.journal.nextSeq()).toBe(total + 1)
        await opened.journal.close()
      } finally {
        flipBit(path, offset, bit)
      }
    }),
    runs(200),
  )
})

test('[MUS-302] a text that is said to go beyond its pack is told of, unless an import said so; its producer may be called what it likes', async () => {
  const dir = copyOf((await original()).whole)
  const { journal } = await openAgain(dir)
  const [one = '', two = ''] = batchOf(journal, ['own', 'imported'])
  const message = { $blob: `sha256:${'0'.repeat(64)}`, bytes: 2 ** 45, pack: 1, offset: 0, preview: '' }
  const told = (line: string, by: object) =>
    JSON.stringify({
      ...JSON.parse(line),
      by,
      producer: { id: 'import:x', epoch: 0, n: JSON.parse(line).seq },
      payload: { message },
    })
  await journal.append([told(one, { kind: 'daemon' }), told(two, { kind: 'operator', via: 'import' })])
  await expect(journal.blobs.get(message)).rejects.toMatchObject({ code: 'failed' })
  await journal.close()
  const { damage } = await verifyJournal(dir)
  expect(damage).toMatchObject([{ seq: total + 2, reason: 'a text goes beyond its pack' }])
})
