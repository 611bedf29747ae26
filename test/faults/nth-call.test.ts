import { expect, test } from 'vitest'
import { verifyJournal } from '../../src/adapters/jsonl/verify.ts'
import { type Fault, failingOps } from '../support/failing-ops.ts'
import { openEngine, operator, sessionDrafts } from '../support/temp-engine.ts'
import { readAll, tempFolder } from '../support/temp-journal.ts'

/** All bytes are down, and then the disk says that they may not last. */
const whole = Number.POSITIVE_INFINITY

const faults: Fault[] = [
  ...Array.from(
    { length: 8 },
    (_, i): Fault => ({ call: 'write', nth: i + 1, code: 'EIO', partial: i * 100 }),
  ),
  ...Array.from({ length: 8 }, (_, i): Fault => ({ call: 'write', nth: i + 1, code: 'ENOSPC', partial: 37 })),
  ...Array.from({ length: 8 }, (_, i): Fault => ({ call: 'write', nth: i + 1, code: 'EIO', partial: whole })),
]

test.each(faults)(
  '[MUS-31] $call number $nth fails with $code: refused ones leave nothing, acknowledged ones stay, once',
  async (fault) => {
    const dir = tempFolder()
    const ops = failingOps(fault)
    const { engine, journal } = await openEngine(dir, { journal: { ops } })
    const session = sessionDrafts()
    const acknowledged: string[] = []
    const refused: string[] = []
    const send = async (items: ReturnType<typeof session.note>[], names: string[]) => {
      try {
        const results = await engine.propose({ items, by: operator })
        results.forEach((result, i) =>
          (result.status === 'appended' ? acknowledged : refused).push(names[i] as string),
        )
      } catch (error) {
        expect(error).toMatchObject({ code: 'unavailable' })
        refused.push(...names)
      }
    }
    // The start is sent again until it is taken: an earlier refusal must not count as a start.
    for (let i = 0; i < 3 && !acknowledged.includes('start'); i++) await send([session.started()], ['start'])
    for (let i = 0; i < 10; i++)
      await send([session.note(`a${i}`), session.note(`b${i}`)], [`a${i}`, `b${i}`])
    expect(ops.fired()).toBe(true)
    expect(refused.length).toBeGreaterThan(0)
    expect(acknowledged.length + refused.length).toBeGreaterThanOrEqual(21)
    const stored = await readAll(journal)
    const texts = stored.map((e) =>
      e.event.type === 'progress.checkpoint' ? e.event.payload.message : 'start',
    )
    expect(texts).toEqual(acknowledged)
    expect(stored.map((e) => e.seq)).toEqual(stored.map((_, i) => i + 1))
    await journal.close()
    expect((await verifyJournal(dir)).damage).toEqual([])
    const again = await openEngine(dir)
    expect(again.engine.snapshot()).toEqual(engine.snapshot())
    await again.journal.close()
  },
)

test('[MUS-31] a sync that failed is not tried again on the same file: writing goes on in a new segment', async () => {
  const dir = tempFolder()
  const { engine, journal } = await openEngine(dir, {
    journal: { ops: failingOps({ call: 'write', nth: 2, code: 'EIO', partial: whole }) },
  })
  const session = sessionDrafts()
  await engine.propose({ items: [session.started()], by: operator })
  await expect(engine.propose({ items: [session.note('lost')], by: operator })).rejects.toThrow(/EIO.*dmesg/)
  await engine.propose({ items: [session.note('kept')], by: operator })
  expect(journal.stats().segments).toBe(2)
  await journal.close()
})
