import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { sessionIdOf, traceIdOf } from '../../../test/support/events.ts'
import { TempIndex } from '../../../test/support/temp-index.ts'
import { events } from './index-queries.ts'
import { RowReader } from './row-reader.ts'
import { spans } from './session-queries.ts'
import { ledger } from './usage-queries.ts'
import { messages } from './work-queries.ts'

const sessionId = sessionIdOf(1)
const traceId = traceIdOf(1)
const types = ['tool.call.started', 'progress.checkpoint']

test.each<[string, string, (reader: RowReader) => unknown]>([
  ['the whole feed', 'SCAN events', (reader) => events(reader, {})],
  ['the feed after a seq', 'PRIMARY KEY', (reader) => events(reader, { after: 4 })],
  ['the feed of a session', 'events_sessionId', (reader) => events(reader, { sessionId })],
  ['some types of a session', 'events_sessionId', (reader) => events(reader, { sessionId, types })],
  ['some types', 'events_type', (reader) => events(reader, { types, before: 20 })],
  ['the spans of a session', 'spans_sessionId', (reader) => spans(reader, { sessionId, after: 3 })],
  ['the spans of a trace', 'spans_traceId', (reader) => spans(reader, { traceId, after: 3 })],
  ['the spans of both', 'spans_sessionId', (reader) => spans(reader, { sessionId, traceId })],
  ['open spans', 'spans_endType', (reader) => spans(reader, { isOpen: true })],
  ['the calls of a session', 'ledger_sessionId', (reader) => ledger(reader, { sessionId, after: 1 })],
  ['the messages of a session', 'messages_sessionId', (reader) => messages(reader, { sessionId })],
  ['a message', 'messages_key', (reader) => messages(reader, { messageId: 'm' })],
])('[MUS-76] %s is read in order by %s: a page costs what it shows', (_what, by, ask) => {
  using place = new TempIndex()
  place.queries([]).close()
  const plan = planOf(place.path, ask)
  expect(plan).toContain(by)
  if (by !== 'messages_key') expect(plan).not.toContain('TEMP B-TREE')
})

function planOf(path: string, ask: (reader: RowReader) => unknown): string {
  const db = new DatabaseSync(path)
  const prepare = db.prepare.bind(db)
  const plans: string[] = []
  const reader = new RowReader(db)
  db.prepare = (sql: string) => {
    const values = Array.from(sql.matchAll(/\?/g), () => 1)
    const plan = prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values)
    plans.push(...plan.map((row) => String(row['detail'])))
    return prepare(sql)
  }
  ask(reader)
  db.close()
  return plans.join('; ')
}
