import { expect, test } from 'vitest'
import { sampleOfSchema } from './sample-of-schema.ts'

test.each([
  ['an object', { type: 'object', properties: { title: { type: 'string' } } }, { title: 'ok' }],
  ['an object without a type', { properties: { is: { type: 'boolean' } } }, { is: false }],
  ['capital letters', { type: 'OBJECT', properties: { n: { type: 'INTEGER', minimum: 3 } } }, { n: 3 }],
  ['a choice of words', { type: 'string', enum: ['small', 'large'] }, 'small'],
  ['a fixed value', { const: null }, null],
  ['a choice of shapes', { anyOf: [{ type: 'array' }, { type: 'string' }] }, []],
  ['a list with a least length', { type: 'array', minItems: 2, items: { type: 'number' } }, [0, 0]],
  ['several types', { type: ['null', 'string'] }, null],
  ['nothing known', {}, 'ok'],
  ['no schema', 7, 'ok'],
])('%s has a plain value', (_what, schema, value) => {
  expect(sampleOfSchema(schema)).toEqual(value)
})

test('a shape that holds itself ends', () => {
  const schema: Record<string, unknown> = { type: 'object' }
  schema['properties'] = { again: schema }
  expect(JSON.stringify(sampleOfSchema(schema))).toContain('"ok"')
})
