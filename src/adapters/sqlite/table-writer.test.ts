import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { numberOf } from '../../contract/index-columns.ts'
import { TableWriter } from './table-writer.ts'

const columns = Array.from({ length: 64 }, (_, n) => `c${n}`)

test('every one of 64 columns is written by itself, and changes no other', () => {
  const db = new DatabaseSync(':memory:')
  db.exec(`CREATE TABLE wide (${columns.join(', ')}, PRIMARY KEY (c0))`)
  const spec = {
    columns: Object.fromEntries(columns.map((name) => [name, numberOf(z.number())])),
    key: ['c0'],
    indexes: [],
  }
  const writer = new TableWriter(db, undefined as never, { name: 'wide', spec })
  const expected: Record<string, number | null> = Object.fromEntries(columns.map((name) => [name, null]))
  expected['c0'] = 7
  for (const [n, name] of columns.entries()) {
    if (n === 0) continue
    writer.set(writer.row([7]), { [name]: n })
    writer.flush()
    expected[name] = n
    expect({ ...db.prepare('SELECT * FROM wide').get() }).toEqual(expected)
  }
  writer.set(writer.row([7]), { c1: -1, c40: -40, c63: -63 })
  writer.flush()
  expect({ ...db.prepare('SELECT * FROM wide').get() }).toEqual({ ...expected, c1: -1, c40: -40, c63: -63 })
})
