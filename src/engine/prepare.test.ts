import { expect, test } from 'vitest'
import { daemon, ids, openEngine, sessionDrafts } from '../../test/support/temp-engine.ts'
import { tempFolder } from '../../test/support/temp-journal.ts'
import type { Journal } from '../adapters/jsonl/journal.ts'
import { stamp } from './prepare.ts'

async function milestones(journal: Journal) {
  const all = await journal.page(0, 10_000)
  return all.flatMap(({ event }) =>
    event.type === 'progress.checkpoint' ? [[event.payload.message, event.payload.number]] : [],
  )
}

test('[MUS-284] milestones that come at once have one number each, in the order they are written', async () => {
  const dir = tempFolder()
  const { engine, journal } = await openEngine(dir)
  const [one, other] = [sessionDrafts(), sessionDrafts()]
  await engine.propose({ items: [one.started(), other.started()], by: daemon })
  const claimed = { ...one.note('c'), payload: { message: 'c', number: 77 } }
  await Promise.all([
    engine.perform([one.note('a')]),
    engine.propose({ items: [one.note('b'), other.note('x'), claimed], by: daemon }),
    engine.perform([one.note('d')]),
  ])
  const written = await milestones(journal)
  expect(written).toContainEqual(['x', 1])
  expect(written.flatMap(([message, number]) => (message === 'x' ? [] : [number]))).toEqual([1, 2, 3, 4])
  await journal.snapshot(engine.snapshot())
  await journal.close()
  const again = await openEngine(dir)
  await again.engine.perform([one.note('e')])
  expect((await milestones(again.journal)).at(-1)).toEqual(['e', 5])
  await again.journal.close()
})

test('[MUS-284] the milestones of a journal from before they had numbers count by their order', async () => {
  const dir = tempFolder()
  const first = await openEngine(dir)
  const session = sessionDrafts()
  await first.engine.propose({ items: [session.started()], by: daemon })
  const old = ['a', 'b'].map((message, i) =>
    stamp(
      session.note(message),
      { seq: 2 + i, id: ids.event(), recordedAt: '2026-01-27T15:10:00.000Z', by: daemon, redacted: [] },
      () => {
        throw new Error('no blobs here')
      },
    ),
  )
  await first.journal.append(old)
  await first.journal.close()
  // A snapshot of that time does not know how many there were.
  const second = await openEngine(dir)
  const { version: _version, ...before } = second.engine.snapshot() as {
    version?: number
    sessions: { milestones?: number }[]
  }
  for (const state of before.sessions) delete state.milestones
  await second.journal.snapshot(before)
  await second.journal.close()

  const third = await openEngine(dir)
  await third.engine.perform([session.note('c')])
  expect(await milestones(third.journal)).toEqual([
    ['a', undefined],
    ['b', undefined],
    ['c', 3],
  ])
  await third.journal.close()
})
