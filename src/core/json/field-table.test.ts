import { expect, test } from 'vitest'
import * as z from 'zod'
import { Count } from '../../contract/values.ts'
import { fieldTable, numbered, readRecord } from './field-table.ts'
import { root } from './json-value.ts'
import { collectRepairs } from './repair.ts'

const Job = z.strictObject({
  job_id: z.string().min(1),
  state: z.enum(['open', 'done']),
  started_at: z.iso.datetime({ offset: true }),
  ended_at: z.iso.datetime({ offset: true }).optional(),
  tries: Count.optional(),
  files: z.array(z.string()),
})
const table = fieldTable<{ readonly position: number }>(Job, {
  job_id: { aliases: ['name'], fallback: numbered('job') },
  state: { words: { finished: 'done' }, fallback: ({ ended_at }) => (ended_at ? 'done' : 'open') },
  started_at: { fallback: '2026-01-26T10:00:00Z' },
  ended_at: { notBefore: 'started_at' },
  files: { fallback: [] },
})

function read(value: unknown) {
  const { log, repairs } = collectRepairs()
  const record = readRecord({ value, place: root, log }, table, { position: 2 })
  return { record, done: repairs.map(({ code, path }) => `${code} ${path}`) }
}

test('[LOG-127] a record that fits its schema is read as it is, with the fields that nobody knows', () => {
  const job = { job_id: 'a', state: 'open', started_at: '2026-01-26T10:00:00Z', files: [], colour: 'red' }
  expect(read(job)).toEqual({ record: job, done: [] })
  expect(read('a job').record).toBeUndefined()
})

test('[LOG-127] other names, words and kinds are read by the table, and each repair is reported', () => {
  const { record, done } = read({
    name: 7,
    state: 'Finished',
    started_at: 1_769_421_600,
    ended_at: '2026-01-26T09:00:00Z',
    tries: '3',
    files: 'a.ts',
  })
  expect(record).toEqual({
    job_id: '7',
    state: 'done',
    original_state: 'Finished',
    started_at: '2026-01-26T10:00:00.000Z',
    ended_at: '2026-01-26T10:00:00.000Z',
    original_ended_at: '2026-01-26T09:00:00Z',
    tries: 3,
    files: ['a.ts'],
  })
  expect(done).toEqual([
    'renamed /job_id',
    'converted /job_id',
    'translated /state',
    'converted /started_at',
    'converted /ended_at',
    'converted /files',
    'converted /tries',
  ])
})

test('[LOG-127] what is missing falls back, and what does not fit is set aside', () => {
  const { record, done } = read({ job_id: '', tries: -1, ended_at: 'soon' })
  expect(record).toEqual({
    job_id: 'job-003',
    state: 'done',
    started_at: '2026-01-26T10:00:00Z',
    files: [],
    original_tries: -1,
    original_ended_at: 'soon',
  })
  expect(done).toEqual([
    'filled /job_id',
    'filled /state',
    'filled /started_at',
    'set_aside /ended_at',
    'filled /files',
    'set_aside /tries',
  ])
})

test('[LOG-127] a table with an unknown field, or a required one without a fallback, is refused when it is made', () => {
  expect(() => fieldTable(Job, { colour: {} })).toThrow('the schema has no field colour')
  expect(() => fieldTable(Job, {})).toThrow('job_id is required: say what it falls back to')
})
