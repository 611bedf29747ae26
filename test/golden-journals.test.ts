import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { verifyJournal } from '../src/adapters/jsonl/verify.ts'
import { version } from '../src/contract/version.ts'
import { startDaemonProcess } from './support/daemon-process.ts'
import { everyEventDrafts } from './support/every-event.ts'
import { goldenJournal, goldenJournals, meaningOf, unpackJournal } from './support/golden-journals.ts'
import { eventually } from './support/session-daemon.ts'
import { tempFolder } from './support/temp-journal.ts'

test('[MUS-221] this release has recorded its journals; if not: npm run campaign record-journals', () => {
  const kinds = ['built-in-agents', 'crew', 'demonstration', 'every-event', 'imports', 'script', 'sessions']
  const names = goldenJournals().map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(kinds.map((kind) => `${version}/${kind}`)))
})

test.each(goldenJournals())('[MUS-221] $name means what it meant when it was recorded', async (golden) => {
  const dir = join(tempFolder(), 'journal')
  unpackJournal(golden, dir)
  expect(await meaningOf(dir)).toBe(readFileSync(golden.expected, 'utf8'))
})

test('[MUS-221] the daemon of today starts on a journal of the first release and continues its chain', async () => {
  const home = tempFolder()
  const dir = join(home, 'journal')
  unpackJournal(goldenJournal('0.1.0', 'demonstration'), dir)
  const { events } = await verifyJournal(dir)
  const daemon = await startDaemonProcess(home)
  onTestFinished(() => void daemon.kill('SIGKILL'))
  const [drafts = []] = everyEventDrafts()
  const { results } = await daemon.client.appendEvents({ events: drafts })
  expect(results.map(({ status }) => status)).not.toContain('rejected')
  await eventually(
    () => daemon.client.listSessions({}),
    ({ sessions }) => sessions.length === 2,
  )
  await daemon.kill('SIGTERM')
  const after = await verifyJournal(dir)
  expect(after).toMatchObject({ damage: [], tail: undefined })
  expect(after.events).toBeGreaterThanOrEqual(events + drafts.length)
})
