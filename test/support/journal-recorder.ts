/** Run by `test/campaigns/record-journals.ts` inside of vitest: what the scenarios are played with needs a test around it. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir, hostname } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { layout } from '../../src/adapters/jsonl/format.ts'
import { version } from '../../src/contract/version.ts'
import {
  type GoldenJournal,
  goldenJournal,
  goldenJournals,
  meaningOf,
  packJournal,
  unpackJournal,
} from './golden-journals.ts'
import { journalScenarios } from './journal-scenarios.ts'
import { tempFolder } from './temp-journal.ts'

if (process.env['MUSTER_CAMPAIGN_EXPECTED'] === 'again') test.each(goldenJournals())('$name', writeMeaning)
else
  test.each(Object.entries(journalScenarios))('%s', async (name, play) => {
    const golden = goldenJournal(version, name)
    if (existsSync(golden.folder)) return
    const journal = join(await play(), 'journal')
    expect(privateWords(journal)).toEqual([])
    packJournal(journal, golden)
    await writeMeaning(golden)
  })

async function writeMeaning(golden: GoldenJournal): Promise<void> {
  const dir = join(tempFolder('gj-'), 'journal')
  unpackJournal(golden, dir)
  writeFileSync(golden.expected, await meaningOf(dir))
}

/** What of this machine and its user is in a journal; nothing of that belongs in the repository. */
function privateWords(journal: string): string[] {
  const words = [hostname(), homedir(), join(import.meta.dirname, '..', '..')].map(
    (word) => new RegExp(`(?<![\\w-])${RegExp.escape(word)}(?![\\w-])`),
  )
  return (['segments', 'blobs'] as const).flatMap((part) => {
    const folder = layout(journal)[part]
    return readdirSync(folder).flatMap((file) =>
      readFileSync(join(folder, file), 'utf8')
        .split('\n')
        .flatMap((line, at) =>
          words.flatMap((word) => word.exec(line) ?? []).map((word) => `${file}:${at + 1}: ${word}`),
        ),
    )
  })
}
