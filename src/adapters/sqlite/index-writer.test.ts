import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EventStream, eventStreams, spanIdOf } from '../../../test/support/events.ts'
import { runs } from '../../../test/support/size.ts'
import { applyInBatches, dump, opened, TempIndex } from '../../../test/support/temp-index.ts'
import type { AgentEvent } from '../../contract/event.ts'
import type { RowOp } from '../../contract/row-op.ts'
import { project } from '../../core/projections/project.ts'
import { removeIndex } from './database.ts'
import { openIndexQueries } from './index-queries.ts'
import { openIndex } from './index-writer.ts'

function build(events: readonly AgentEvent[], cuts: readonly number[] = []): Record<string, unknown[]> {
  using place = new TempIndex()
  const writer = place.writer()
  applyInBatches(writer, events, cuts)
  writer.close()
  return dump(place.path)
}

function someEvents(count: number): AgentEvent[] {
  const stream = new EventStream()
  stream.add('session.started', { name: 'one' })
  for (let i = 1; stream.events.length < count; i++) {
    stream.add('tool.call.started', { callId: `c${i}`, tool: 'Bash' }, { spanId: spanIdOf(i) })
    stream.add('tool.call.completed', { callId: `c${i}`, tool: 'Bash' }, { spanId: spanIdOf(i) })
    const usage = { input: i, output: 1 }
    stream.add(
      'llm.request.completed',
      { responseId: `r${i}`, model: 'm', usage },
      { spanId: spanIdOf(i + 1e6) },
    )
  }
  return stream.events.slice(0, count)
}

test('[MUS-71] built in any batches, the index is the same row for row as built at once', () => {
  fc.assert(
    fc.property(eventStreams(), fc.array(fc.nat(), { maxLength: 8 }), (events, cuts) => {
      expect(build(events, cuts)).toEqual(build(events))
    }),
    { ...runs(30), interruptAfterTimeLimit: 20_000 },
  )
})

test('[MUS-71] reopening between batches changes nothing', () => {
  fc.assert(
    fc.property(eventStreams(40), fc.nat(), (events, cut) => {
      using place = new TempIndex()
      const at = cut % (events.length + 1)
      for (const part of [events.slice(0, at), events.slice(at)]) {
        const writer = place.writer()
        writer.apply(part)
        writer.close()
      }
      expect(dump(place.path)).toEqual(build(events))
    }),
    { ...runs(15), interruptAfterTimeLimit: 20_000 },
  )
})

test('[MUS-72] events that come again change nothing', () => {
  fc.assert(
    fc.property(eventStreams(40), fc.nat(), (events, from) => {
      using place = new TempIndex()
      const writer = place.writer()
      writer.apply(events.slice(0, from % (events.length + 1)))
      writer.apply(events)
      writer.apply(events)
      writer.close()
      expect(dump(place.path)).toEqual(build(events))
    }),
    { ...runs(15), interruptAfterTimeLimit: 20_000 },
  )
})

test('[MUS-72] a failure at any row of a batch leaves cursor and rows as they were, and a second try succeeds', () => {
  const events = someEvents(13)
  const whole = build(events)
  const before = build(events.slice(0, 4))
  for (const table of ['events', 'spans', 'ledger', 'rollups', 'sessions', 'meta']) {
    using place = new TempIndex()
    const writer = place.writer()
    writer.apply(events.slice(0, 4))
    const other = new DatabaseSync(place.path)
    for (const verb of ['INSERT', 'UPDATE']) {
      other.exec(
        `CREATE TRIGGER fault_${verb} BEFORE ${verb} ON ${table} BEGIN SELECT RAISE(FAIL, 'no'); END`,
      )
    }
    expect(() => writer.apply(events.slice(4)), table).toThrow('no')
    expect(writer.position().seq).toBe(4)
    for (const verb of ['INSERT', 'UPDATE']) other.exec(`DROP TRIGGER fault_${verb}`)
    other.close()
    expect(dump(place.path), table).toEqual(before)
    expect(writer.apply(events.slice(4))).toMatchObject({ applied: 9, parked: [] })
    writer.close()
    expect(dump(place.path), table).toEqual(whole)
  }
})

test('[MUS-72] a writer killed at any moment goes on where its file stands', async () => {
  using place = new TempIndex()
  const events = someEvents(4000)
  writeFileSync(join(place.dir, 'events.json'), JSON.stringify(events))
  const script = join(place.dir, 'child.ts')
  writeFileSync(
    script,
    `import { readFileSync } from 'node:fs'
    const { openIndex } = await import('${join(import.meta.dirname, 'index-writer.ts')}')
    const { project } = await import('${join(import.meta.dirname, '../../core/projections/project.ts')}')
    const events = JSON.parse(readFileSync('${join(place.dir, 'events.json')}', 'utf8'))
    const { follower } = openIndex('${place.path}', project)
    while (follower.position().seq < events.length) {
      const at = follower.position().seq
      follower.apply(events.slice(at, at + 7))
      process.stdout.write('.')
    }`,
  )
  for (let kills = 0; kills < 3; kills++) {
    const child = spawn(process.execPath, ['--no-warnings', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'close')
  }
  const writer = place.writer()
  expect(writer.position().seq).toBeGreaterThan(0)
  writer.apply(events)
  writer.close()
  expect(dump(place.path)).toEqual(build(events))
})

test('[MUS-74] an event the projection throws on is parked and the next ones are taken', () => {
  using place = new TempIndex()
  const events = someEvents(5)
  const writer = place.writer((event) => {
    if (event.seq === 3) throw new Error('cannot')
    return project(event)
  })
  expect(writer.apply(events)).toEqual({ applied: 4, parked: [{ seq: 3, error: 'cannot' }], isStale: false })
  expect(writer.position().seq).toBe(5)
  writer.close()
  const { events: feed, parked } = dump(place.path)
  expect(feed).toHaveLength(4)
  expect(parked).toMatchObject([{ seq: 3, error: 'cannot' }])
})

test.each<[string, RowOp]>([
  ['a value of no column type', upsert({ set: { name: true } })],
  ['a number that is none', upsert({ add: { events: Number.NaN } })],
  ['an unknown column', upsert({ keep: { nothing: 1 } })],
  ['an unknown table', upsert({ table: 'nothing' })],
  ['an object in a key', upsert({ key: [{}] })],
])('[MUS-74] %s parks its event alone, with none of its rows', (_what, bad) => {
  const events = someEvents(6)
  using place = new TempIndex()
  // The bad operation comes last, so everything before it has been taken when it is met.
  const writer = place.writer((event) => (event.seq === 4 ? [...project(event), bad] : project(event)))
  expect(writer.apply(events)).toMatchObject({ applied: 5, parked: [{ seq: 4 }] })
  writer.close()
  using clean = new TempIndex()
  const other = clean.writer()
  other.apply(events.filter(({ seq }) => seq !== 4))
  other.close()
  const rows = dump(place.path)
  const others = dump(clean.path)
  for (const table of ['sessions', 'rollups', 'events']) expect(rows[table]).toEqual(others[table])
  expect(rows['parked']).toHaveLength(1)
})

function upsert(change: object): RowOp {
  return { op: 'upsert', table: 'sessions', key: ['ses_x'], ...change } as RowOp
}

test('[MUS-71] a row that is wrongly said to be fresh is found all the same', () => {
  const stream = new EventStream()
  stream.add('tool.call.started', { callId: 'a', tool: 'Bash' }, { spanId: spanIdOf(1) })
  const late = stream.add('tool.call.started', { callId: 'b', tool: 'Read' }, { spanId: spanIdOf(1) })
  using place = new TempIndex()
  const writer = place.writer()
  writer.apply(stream.events.slice(0, 1))
  writer.close()
  // A new writer has nothing in memory, so the second start of the span meets the row in the file.
  const again = place.writer()
  expect(again.apply([late])).toMatchObject({ applied: 1, parked: [] })
  again.close()
  expect(dump(place.path)).toEqual(build(stream.events))
  expect(dump(place.path)['spans']).toHaveLength(1)
})

test('[MUS-70, MUS-77] a removed index comes back from the journal', () => {
  using place = new TempIndex()
  const events = someEvents(20)
  const writer = place.writer()
  writer.apply(events)
  writer.close()
  const first = dump(place.path)
  removeIndex(place.dir)
  expect(statSync(place.path, { throwIfNoEntry: false })).toBeUndefined()
  const again = openIndex(place.path, project)
  expect(again).toMatchObject({ ok: true, isEmpty: true })
  const follower = opened(again)
  follower.apply(events)
  follower.close()
  expect(dump(place.path)).toEqual(first)
})

test.each([
  ['an older version', "UPDATE meta SET value = 0 WHERE name = 'version'"],
  ['another shape', "UPDATE meta SET value = 'CREATE' WHERE name = 'shape'"],
  ['no mark at all', 'DROP TABLE meta'],
])('[MUS-75] an index of %s is replaced by an empty one', (_what, sql) => {
  using place = new TempIndex()
  const writer = place.writer()
  writer.apply(someEvents(5))
  writer.close()
  change(place.path, sql)
  const again = openIndex(place.path, project)
  expect(again).toMatchObject({ ok: true, isEmpty: true })
  opened(again).close()
  expect(dump(place.path)['events']).toEqual([])
})

test('[MUS-75] an index ahead of the journal is replaced, one behind it is not', () => {
  using place = new TempIndex()
  const writer = place.writer()
  writer.apply(someEvents(5))
  writer.close()
  const kept = openIndex(place.path, project, 5)
  expect(kept).toMatchObject({ ok: true, isEmpty: false })
  expect(opened(kept).position()).toMatchObject({ seq: 5, id: expect.stringMatching(/^evt_/) })
  opened(kept).close()
  const replaced = openIndex(place.path, project, 4)
  expect(replaced).toMatchObject({ ok: true, isEmpty: true })
  opened(replaced).close()
})

test('[MUS-75] an index of a newer version is reported and left as it is', () => {
  using place = new TempIndex()
  place.writer().close()
  change(place.path, "UPDATE meta SET value = 999 WHERE name = 'version'")
  expect(openIndex(place.path, project)).toMatchObject({ ok: false, problem: 'newer' })
  expect(dump(place.path)['meta']).toContainEqual({ name: 'version', value: 999 })
})

test('[MUS-70] a file that is no database is reported; without it the index opens again', () => {
  using place = new TempIndex()
  writeFileSync(place.path, 'not a database at all, but long enough to look like one'.repeat(50))
  expect(openIndex(place.path, project)).toMatchObject({ ok: false, problem: 'corrupt' })
  removeIndex(place.dir)
  place.writer().close()
})

test('[MUS-70] damage met on the way is told to writer and reader as what it is', () => {
  using place = new TempIndex()
  const writer = place.writer()
  writer.apply(someEvents(3000))
  writer.close()
  const bytes = readFileSync(place.path)
  // The schema is at the front and stays whole: both open, and meet the damage in the rows.
  bytes.fill(0x5a, bytes.length >> 1)
  writeFileSync(place.path, bytes)
  const refusal = expect.objectContaining({ code: 'unavailable', details: { problem: 'corrupt' } })
  const again = place.writer()
  expect(() => again.apply(someEvents(3500))).toThrow(refusal)
  again.close()
  const queries = openIndexQueries(place.path)
  expect(() => queries.spans({ limit: 5000 })).toThrow(refusal)
  queries.close()
})

test('[MUS-39] erased lines lose their title at once, and the index says that it must be built again', () => {
  const stream = new EventStream()
  stream.add('session.started', { name: 'secret-name' })
  stream.add('progress.checkpoint', { message: 'fine' })
  const erased = stream.add('journal.erased', { seqs: [1], reason: 'missed', by: 'operator' })
  using place = new TempIndex()
  const writer = place.writer()
  expect(writer.apply(stream.events.slice(0, 2)).isStale).toBe(false)
  expect(writer.apply([erased]).isStale).toBe(true)
  writer.close()
  const titles = dump(place.path)['events']?.map((row) => (row as { title: string | null }).title)
  expect(titles).toEqual([null, 'fine', '1 missed'])
  // A rebuilt index never sees the erased line, so it is not stale again.
  using rebuilt = new TempIndex()
  const second = rebuilt.writer()
  expect(second.apply(stream.events.slice(1)).isStale).toBe(false)
  second.close()
  expect(JSON.stringify(dump(rebuilt.path))).not.toContain('secret-name')
})

test('[MUS-71] texts that a file keeps as one are one already in memory', () => {
  const stream = new EventStream()
  // Half characters of different kinds are all stored as the same replacement.
  stream.add('message.queued', { messageId: 'm\ud800', preview: 'one' })
  stream.add('message.queued', { messageId: 'm\udbff', preview: 'two' })
  using place = new TempIndex()
  const writer = place.writer()
  expect(writer.apply(stream.events)).toMatchObject({ applied: 2, parked: [] })
  writer.close()
  expect(dump(place.path)['messages']).toMatchObject([{ messageId: 'm\uFFFD', preview: 'one' }])
})

test('[MUS-70] the files are private', () => {
  using place = new TempIndex()
  const writer = place.writer()
  writer.apply(someEvents(3))
  for (const suffix of ['', '-wal', '-shm']) expect(statSync(place.path + suffix).mode & 0o777).toBe(0o600)
  writer.close()
})

function change(path: string, sql: string): void {
  const db = new DatabaseSync(path)
  db.exec(sql)
  db.close()
}
