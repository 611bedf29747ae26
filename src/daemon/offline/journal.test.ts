import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openEngine, sessionDrafts } from '../../../test/support/temp-engine.ts'
import { batchOf, openJournal, tempFolder } from '../../../test/support/temp-journal.ts'
import { homeFiles } from '../home.ts'
import { journalExport, journalSetAside, journalStats } from './journal.ts'

test('[MUS-123][MUS-28] without a daemon, stats and export end at the last whole batch, not at the last snapshot or line', async () => {
  const dir = tempFolder()
  const { journal } = await openJournal(dir)
  await journal.append(batchOf(journal, ['a', 'b']))
  await journal.snapshot({})
  await journal.append(batchOf(journal, ['c']))
  await journal.append(batchOf(journal, ['d', 'e']))
  await journal.close()
  const path = join(dir, 'segments', readdirSync(join(dir, 'segments'))[0] as string)
  truncateSync(path, statSync(path).size - 1)
  expect(await journalStats(dir)).toMatchObject({ seq: 3, snapshotSeq: 2, oldestSeq: 1 })
  const lines: string[] = []
  const all = { after: 0, types: [], session: undefined }
  for await (const line of journalExport(dir, all, new AbortController().signal)) lines.push(line)
  expect(lines.map((line) => (JSON.parse(line) as { seq: number }).seq)).toEqual([1, 2, 3])
})

test('[MUS-375] lines that are set aside are named in the journal, once, and it opens again', async () => {
  const home = tempFolder()
  const files = homeFiles(home)
  const { journal, engine } = await openEngine(files.journal)
  const session = sessionDrafts()
  await engine.perform([session.draft('session.started', {}, { spanId: session.sessionSpan })])
  for (const message of ['one', 'two', 'three'])
    await engine.perform([session.draft('progress.checkpoint', { message })])
  await journal.close()
  const folder = join(files.journal, 'segments')
  const path = join(folder, readdirSync(folder)[0] as string)
  writeFileSync(path, readFileSync(path, 'utf8').replace('"two"', '"owt"'))
  expect(await journalSetAside(files)).toMatchObject([{ lines: 1, lost: 0 }])
  expect(await journalSetAside(files)).toEqual([])
  const again = await openEngine(files.journal)
  const events = (await again.journal.page(0, 100)).map(({ event }) => event)
  expect(events.at(-1)).toMatchObject({
    type: 'journal.erased',
    payload: { seqs: [3], reason: 'damaged', by: 'operator' },
  })
  expect(again.engine.session(session.sessionId)?.milestones).toBe(3)
  await again.journal.close()
})

test('[MUS-378] an export by a type or of a session that does not exist is refused, never empty', async () => {
  const dir = tempFolder()
  const { journal } = await openJournal(dir)
  await journal.append(batchOf(journal, ['a']))
  await journal.close()
  const exported = (filter: Partial<Parameters<typeof journalExport>[1]>) =>
    Array.fromAsync(
      journalExport(
        dir,
        { after: 0, types: [], session: undefined, ...filter },
        new AbortController().signal,
      ),
    )
  await expect(exported({ types: ['session.stated'] })).rejects.toMatchObject({
    code: 'invalid',
    message: "'session.stated' is not an event type; did you mean session.started?",
  })
  await expect(exported({ session: '0000beef' })).rejects.toMatchObject({ code: 'not_found' })
  expect(await exported({ session: '0000beef', after: 1 })).toEqual([])
})
