import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EventStream, eventStreams, payloadOf } from '../../../test/support/events.ts'
import { runs } from '../../../test/support/size.ts'
import { type AgentEvent, eventTypes } from '../../contract/event.ts'
import { tables } from '../../contract/index-tables.ts'
import type { RowOp } from '../../contract/row-op.ts'
import { searchLimit, searchText } from './event-text.ts'
import { project } from './project.ts'

test.each(eventTypes)('[MUS-50] whatever its payload, %s is projected and makes known rows', (type) => {
  fc.assert(
    fc.property(payloadOf(type), (payload) => {
      const event = new EventStream().add(type, payload as never, { taskId: 't', workflowId: 'w' })
      const ops = project(event)
      expect(ops[0]).toMatchObject({ op: 'insert', table: 'events', row: { seq: 1, type } })
      for (const op of ops) expect(unknownColumns(op)).toEqual([])
      const title = ops[0]?.op === 'insert' ? (ops[0].row.title ?? '') : ''
      expect(title.length).toBeLessThanOrEqual(200)
      const text = searchText(event)
      expect(text?.body.length ?? 0).toBeLessThanOrEqual(searchLimit)
      expect(text?.title.length ?? 0).toBeLessThanOrEqual(200)
    }),
    runs(25),
  )
})

test('[MUS-50] the operations depend on the event alone and leave it as it is', () => {
  fc.assert(
    fc.property(eventStreams(20), (events) => {
      for (const event of events) {
        const before = structuredClone(event)
        expect(project(deepFreeze(event))).toEqual(project(before))
        expect(event).toEqual(before)
      }
    }),
    runs(40),
  )
})

test('[MUS-20] a type that a newer version wrote is kept in the feed and counted', () => {
  const known = new EventStream().add('progress.checkpoint', { message: 'x' })
  const event = { ...known, type: 'galaxy.explored' } as unknown as AgentEvent
  const ops = project(event)
  expect(ops.map((op) => (op.op === 'erase' ? op.op : op.table))).toEqual([
    'events',
    'rollups',
    'sessions',
    'runs',
  ])
  expect(searchText(event)).toBeUndefined()
})

test('[MUS-74] an event without a readable time is refused, so that it is parked and not misplaced', () => {
  const event = { ...new EventStream().add('progress.checkpoint', { message: 'x' }), timestamp: 'yesterday' }
  expect(() => project(event)).toThrow('yesterday')
})

function unknownColumns(op: RowOp): string[] {
  if (op.op === 'erase') return []
  const changes = op.op === 'insert' ? [op.row] : [op.keep, op.set, op.add, op.max]
  const known = Object.keys(tables[op.table].columns)
  return changes.flatMap((change) => Object.keys(change ?? {})).filter((name) => !known.includes(name))
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const inner of Object.values(value)) deepFreeze(inner)
  return Object.freeze(value)
}
