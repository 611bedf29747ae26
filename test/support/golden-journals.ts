import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { layout } from '../../src/adapters/jsonl/format.ts'
import { Journal } from '../../src/adapters/jsonl/journal.ts'
import { verifyJournal } from '../../src/adapters/jsonl/verify.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { exportSession } from '../../src/api/session-files.ts'
import type { AgentEvent } from '../../src/contract/event.ts'
import type { IndexClient } from '../../src/daemon/index-thread.ts'
import { Engine } from '../../src/engine/engine.ts'
import type { IndexQueries } from '../../src/ports/index.ts'
import { validateSession } from '../../src/session-file/validate.ts'
import { TempIndex } from './temp-index.ts'

const golden = join(import.meta.dirname, '..', 'golden', 'journals')
const parts = ['segments', 'blobs'] as const

/** A journal that a release wrote, and what it meant to that release. */
export type GoldenJournal = { readonly name: string; readonly folder: string; readonly expected: string }

/** Where the journal of one scenario of a release is kept. */
export function goldenJournal(release: string, scenario: string): GoldenJournal {
  const folder = join(golden, release, scenario)
  return { name: `${release}/${scenario}`, folder, expected: join(folder, 'expected.json') }
}

/** The journals of every release, oldest first. */
export function goldenJournals(): GoldenJournal[] {
  const releases = existsSync(golden) ? readdirSync(golden).toSorted(byVersion) : []
  return releases.flatMap((release) =>
    readdirSync(join(golden, release))
      .toSorted()
      .map((scenario) => goldenJournal(release, scenario)),
  )
}

const byVersion = (a: string, b: string) => a.localeCompare(b, 'en', { numeric: true })

/** Keeps what cannot be made again: segments and the blobs of their long texts. */
export function packJournal(journal: string, { folder }: GoldenJournal): void {
  for (const part of parts)
    for (const file of filesOf(layout(journal)[part])) {
      mkdirSync(join(folder, part), { recursive: true })
      writeFileSync(
        join(folder, part, `${file}.gz`),
        gzipSync(readFileSync(join(layout(journal)[part], file)), { level: 9 }),
      )
    }
}

export function unpackJournal({ folder }: GoldenJournal, journal: string): void {
  for (const part of parts) {
    mkdirSync(layout(journal)[part], { recursive: true })
    for (const file of filesOf(join(folder, part)))
      writeFileSync(
        join(layout(journal)[part], file.replace(/\.gz$/, '')),
        gunzipSync(readFileSync(join(folder, part, file))),
      )
  }
}

const filesOf = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder).toSorted() : [])

/**
 * All that a journal means to the code of today, as text to compare line by line: what its chain says, the state that
 * its events fold to half-way and at the end, the rows of the index, and the session files of its trees.
 */
export async function meaningOf(dir: string): Promise<string> {
  const verified = await verifyJournal(dir)
  const { journal, engine } = await openEngine(dir)
  using index = new TempIndex()
  try {
    const events = await allEvents(journal)
    const half = foldedUpTo(events.slice(0, Math.ceil(events.length / 2)))
    using queries = index.queries(events)
    return asLines({
      journal: {
        segments: verified.segments,
        events: verified.events,
        damage: verified.damage,
        tail: verified.tail,
      },
      types: countBy(events, ({ type }) => type),
      milestones: events
        .filter(({ type }) => type === 'progress.checkpoint')
        .map(({ seq, payload }) => ({ seq, payload })),
      stateHalfWay: half,
      state: engine.snapshot(),
      ...rowsOf(queries),
      sessionFiles: await sessionFilesOf(journal, queries),
    })
  } finally {
    await journal.close()
  }
}

async function openEngine(dir: string): Promise<{ journal: Journal; engine: Engine }> {
  const options = {
    fsync: 'group',
    groupMs: 1,
    groupEvents: 1000,
    segmentBytes: 64 << 20,
    reserveBytes: 0,
  } as const
  const journal = await Journal.open({ dir, clock: systemClock, ...options })
  const engine = engineOn(journal)
  await journal.load(engine.replay)
  return { journal, engine }
}

/** An engine that is only asked what events fold to. */
const engineOn = (journal?: Journal): Engine =>
  new Engine({ journal } as unknown as ConstructorParameters<typeof Engine>[0])

function foldedUpTo(events: readonly AgentEvent[]): unknown {
  const engine = engineOn()
  for (const event of events) engine.replay.event(event)
  return engine.snapshot()
}

async function allEvents(journal: Journal): Promise<AgentEvent[]> {
  const events: AgentEvent[] = []
  for (;;) {
    const page = await journal.page(events.at(-1)?.seq ?? 0, 1000)
    if (page.length === 0) return events
    events.push(...page.map(({ event }) => event))
  }
}

function rowsOf(queries: IndexQueries): Record<string, readonly unknown[]> {
  const all = { limit: 5000 }
  return {
    parked: queries.parked(5000),
    sessions: queries.sessions(all).toReversed(),
    runs: queries.runs(all),
    tasks: queries.tasks(all),
    messages: queries.messages(all),
    approvals: queries.approvals(all),
    workflows: queries.workflows(all).toReversed(),
    spans: queries.spans(all),
    ledger: queries.ledger(all),
    usage: queries.usage({ by: 'model' }),
    stats: queries.stats({ by: ['sessionId'], limit: 5000 }),
  }
}

/** The session file of each tree, by the code that exports it for people. */
async function sessionFilesOf(journal: Journal, queries: IndexQueries): Promise<unknown[]> {
  const ask = async (name: keyof IndexQueries, ...args: never[]) =>
    (queries[name] as (...given: never[]) => unknown)(...args)
  const index = { ask } as unknown as IndexClient
  const files: unknown[] = []
  for (const row of queries.sessions({ isRoot: true, limit: 5000 }).toReversed()) {
    const { document, filename, kind } = await exportSession({ journal, blobs: journal.blobs, index }, row)
    files.push({ filename, kind, validation: validateSession(document, { filename }), document })
  }
  return files
}

function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const item of items) counts[keyOf(item)] = (counts[keyOf(item)] ?? 0) + 1
  return Object.fromEntries(Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** One row is one line, so that a difference shows which one it is. */
function asLines(meaning: Readonly<Record<string, unknown>>): string {
  const sections = Object.entries(meaning).map(([name, value]) => {
    const isLong = name === 'state' || name === 'stateHalfWay' || name === 'sessionFiles' || name === 'types'
    if (isLong || !Array.isArray(value)) return `${JSON.stringify(name)}: ${JSON.stringify(value, known, 1)}`
    return `${JSON.stringify(name)}: [${value.map((row) => `\n ${JSON.stringify(row, known)}`).join(',')}\n]`
  })
  return `{\n${sections.join(',\n')}\n}\n`
}

// What no row says is left out: a column that is added later says nothing of old journals.
const known = (_key: string, value: unknown) => (value === null ? undefined : value)
