import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../test/support/size.ts'
import { batchOf, openJournal, readAll, tempFolder } from '../../../test/support/temp-journal.ts'
import { setAsideDamage } from './set-aside.ts'
import { verifyJournal } from './verify.ts'

const pathOf = (dir: string) => join(dir, 'segments', readdirSync(join(dir, 'segments'))[0] as string)

test('[MUS-33][MUS-39] a flipped byte is cured: the damaged line leaves a tombstone, every other event stays', async () => {
  const dir = tempFolder()
  const { journal } = await openJournal(dir)
  for (let i = 0; i < 4; i++) await journal.append(batchOf(journal, [`a${i}`, `b${i}`, `c${i}`]))
  await journal.close()
  const whole = readFileSync(pathOf(dir))
  const from = whole.indexOf('\n') + 1
  const to = whole.lastIndexOf('\n{"seq":10,')
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: from, max: to }),
      fc.integer({ min: 1, max: 255 }),
      async (at, flip) => {
        const damaged = Buffer.from(whole)
        damaged[at] = (damaged[at] as number) ^ flip
        writeFileSync(pathOf(dir), damaged)
        const [done] = await setAsideDamage(dir)
        expect(done?.lines).toBeLessThanOrEqual(2)
        expect(readFileSync(done?.original ?? '')).toEqual(damaged)
        expect((await verifyJournal(dir)).damage).toEqual([])
        const again = await openJournal(dir)
        const seqs = (await readAll(again.journal)).map((e) => e.seq)
        expect(seqs.length).toBeGreaterThanOrEqual(12 - (done?.lines ?? 0))
        expect(new Set(seqs).size).toBe(seqs.length)
        expect(again.journal.nextSeq()).toBe(13)
        await again.journal.close()
      },
    ),
    runs(40),
  )
})

test('[MUS-33][MUS-39] a commit that lost the newline before it is a line again: nothing else is lost', async () => {
  const dir = tempFolder()
  const { journal } = await openJournal(dir)
  for (let i = 0; i < 4; i++) await journal.append(batchOf(journal, [`a${i}`, `b${i}`, `c${i}`]))
  await journal.close()
  const whole = readFileSync(pathOf(dir))
  const last = whole.lastIndexOf('\n{"commit"')
  for (let at = whole.indexOf('\n{"commit"'); at < last; at = whole.indexOf('\n{"commit"', at + 1))
    for (const byte of [0x0b, 0x20, 0x7d, 0x00, 0xff]) {
      const damaged = Buffer.from(whole)
      damaged[at] = byte
      writeFileSync(pathOf(dir), damaged)
      expect(await setAsideDamage(dir)).toMatchObject([{ lines: 0 }])
      expect(readFileSync(pathOf(dir))).toEqual(whole)
    }
})

test('[MUS-33] an intact journal is left as it is', async () => {
  const dir = tempFolder()
  const { journal } = await openJournal(dir)
  await journal.append(batchOf(journal, ['x']))
  await journal.close()
  const before = readFileSync(pathOf(dir))
  expect(await setAsideDamage(dir)).toEqual([])
  expect(readFileSync(pathOf(dir))).toEqual(before)
})
