import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lastJsonObject } from './read-reply.ts'

test.each([
  ['bare', '{"a":1}', { a: 1 }],
  ['in a fence', 'Done.\n```json\n{"a": {"b": [1, "}"]}}\n```\nBye.', { a: { b: [1, '}'] } }],
  ['the last of several', '{"a":1} then {"a":2}', { a: 2 }],
  ['braces in texts', 'see {x} and {"a":"{\\"b\\": \\"}\\"}"}', { a: '{"b": "}"}' }],
  ['prose with braces before and after', 'f() { return 1 } {"a":1} if (x) { y }', { a: 1 }],
  ['behind a sample that is no JSON', 'like {"a": ...} so: {"a":3}', { a: 3 }],
  ['empty', 'nothing: {}', {}],
  ['without keys that change prototypes', '{"a":1,"__proto__":{"b":2}}', { a: 1 }],
])('[COL-24] the last object of a text: %s', (_, text, value) => {
  expect(lastJsonObject(text)).toMatchObject({ value })
  expect(lastJsonObject(text)).not.toHaveProperty('problem')
})

test.each([
  ['no object at all', 'I am done { really }.', 'no JSON object'],
  ['cut off', '{"a":1}\n{"a": {"b": 2}, "c": "and then', 'cut off'],
  ['broken', '{"a":1}\n{"a": 1,}', 'broken at line 2: expected a field name in double quotes'],
  ['too deep', `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`, 'nested deeper than 200'],
])('[COL-24] a text whose last object is not whole says why: %s', (_, text, problem) => {
  const read = lastJsonObject(text)
  expect('problem' in read && read.problem).toContain(problem)
})

test('[COL-24] a part of a broken object says that something before it broke', () => {
  const read = lastJsonObject('{"tasks": [{"id": 1 oops}, {"id": 2}]}')
  expect(read).toMatchObject({ value: { id: 2 } })
  expect('broken' in read && read.broken).toContain('broken at line 1')
})

test('[COL-24] any object is found between any prose without braces', () => {
  const prose = fc.string({ maxLength: 40 }).map((text) => text.replaceAll(/[{}]/g, ' '))
  const object = fc.dictionary(fc.string({ minLength: 1, maxLength: 5 }), fc.jsonValue({ maxDepth: 3 }), {
    minKeys: 1,
  })
  fc.assert(
    fc.property(prose, object, prose, fc.boolean(), (before, value, after, isWide) => {
      const plain = JSON.parse(JSON.stringify(value).replaceAll('__proto__', 'proto')) as unknown
      const text = `${before}${JSON.stringify(plain, null, isWide ? 2 : undefined)}${after}`
      expect(lastJsonObject(text)).toEqual({ value: plain })
    }),
  )
})

test('[COL-24] no text takes long, whatever it is made of', () => {
  for (const piece of ['{', '{"a":', '{"a', '[{"a":[', '{"', '{"a":x ', '\\"{'])
    expect(lastJsonObject(piece.repeat(60_000))).toHaveProperty('problem')
})
