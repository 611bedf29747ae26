import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Journal, type JournalOptions } from '../../src/adapters/jsonl/journal.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { systemIds } from '../../src/adapters/system/ids.ts'
import type { AgentEvent, Draft } from '../../src/contract/event.ts'
import { fleet } from '../../src/contract/ids.ts'
import type { BlobRef } from '../../src/contract/values.ts'
import { stamp } from '../../src/engine/prepare.ts'
import type { StoredEvent } from '../../src/ports/journal.ts'
import { whenOver } from './shared.ts'

const noBlob: BlobRef = { $blob: `sha256:${'0'.repeat(64)}`, bytes: 0, pack: 0, offset: 0, preview: '' }
const ids = systemIds(systemClock)

/** A folder of the test's own, gone when the test ends, or with what it was made for when tests share that. */
export function tempFolder(name = 'muster-test-'): string {
  const dir = mkdtempSync(join(tmpdir(), name))
  // A program that is just ending may still write into it.
  whenOver(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }))
  return dir
}

export const journalOptions = (dir: string, more: Partial<JournalOptions> = {}): JournalOptions => ({
  dir,
  clock: systemClock,
  fsync: 'group',
  groupMs: 1,
  groupEvents: 1000,
  segmentBytes: 64 << 20,
  reserveBytes: 64 << 10,
  ...more,
})

/** Opens a journal and collects what it replays. */
export async function openJournal(dir: string, more: Partial<JournalOptions> = {}) {
  const replayed: AgentEvent[] = []
  let restored: unknown
  const journal = await Journal.open(journalOptions(dir, more))
  const replay = {
    restore: (state: unknown) => {
      restored = state
      return true
    },
    event: (event: AgentEvent) => replayed.push(event),
  }
  const cut = await journal.load(replay).catch(async (error: unknown) => {
    await journal.close()
    throw error
  })
  return { journal, cut, replayed, restored }
}

/** Lines ready to append, numbered from the journal's next seq. */
export function batchOf(journal: Pick<Journal, 'nextSeq'>, messages: readonly string[]): string[] {
  return messages.map((message, i) => {
    const draft: Draft = {
      ...fleet,
      actor: 'test',
      type: 'progress.checkpoint',
      payload: { message },
    }
    const given = {
      seq: journal.nextSeq() + i,
      id: ids.event(),
      recordedAt: '2026-01-27T15:10:00.000Z',
      by: { kind: 'daemon' } as const,
      redacted: [],
    }
    // A long text stays in the line, so that the journal meets lines of any length.
    const event = JSON.parse(stamp(draft, given, () => noBlob)) as AgentEvent
    return JSON.stringify({ ...event, payload: { message } })
  })
}

/** Every event after a seq, read page by page. */
export async function readAll(journal: Pick<Journal, 'page'>, after = 0, limit = 7): Promise<StoredEvent[]> {
  const all: StoredEvent[] = []
  for (let cursor = after; ; cursor = all.at(-1)?.seq ?? cursor) {
    const page = await journal.page(cursor, limit)
    if (page.length === 0) return all
    all.push(...page)
  }
}
