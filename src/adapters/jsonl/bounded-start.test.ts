import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { batchOf, openJournal, tempFolder } from '../../../test/support/temp-journal.ts'

test('[MUS-54] a start after a kill reads and folds no more than one segment, however long the journal is', async () => {
  const dir = tempFolder()
  const options = { segmentBytes: 8000, groupMs: 0 }
  const { journal } = await openJournal(dir, options)
  const saved: Promise<void>[] = []
  journal.onRotate(() => saved.push(journal.snapshot({ rotations: saved.length })))
  let perSegment = 0
  for (let i = 0; i < 400; i++) {
    await journal.append(batchOf(journal, [`message ${i}`]))
    if (saved.length === 0) perSegment = i + 1
  }
  await Promise.all(saved)
  expect(saved.length).toBeGreaterThan(20)
  await journal.close()
  // What lies before the last snapshot is not even looked at: that is for `sm journal verify`.
  const segments = readdirSync(join(dir, 'segments')).sort()
  for (const name of segments.slice(0, -2)) writeFileSync(join(dir, 'segments', name), 'nothing of ours')
  const again = await openJournal(dir, options)
  expect(again.replayed.length).toBeLessThanOrEqual(perSegment + 1)
  expect(again.replayed.at(-1)?.seq).toBe(400)
  await again.journal.close()
})
