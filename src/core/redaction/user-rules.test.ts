import { describe, expect, test } from 'vitest'
import { AppError } from '../../contract/errors.ts'
import { createRedactor } from './redactor.ts'
import type { RedactionRule } from './user-rules.ts'

const refusalOf = (rule: RedactionRule): AppError => {
  try {
    createRedactor({ rules: [rule] })
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error(`accepted ${rule.pattern}`)
}

describe('own rules', () => {
  test('[MUS-67] the whole match is replaced, in texts, events and streams', () => {
    const redactor = createRedactor({ rules: [{ name: 'badge', pattern: 'B-[0-9]{4}' }] })
    expect(redactor.text('see B-1234.').text).toBe('see [redacted:badge].')
    expect(redactor.event({ a: ['B-1234', 'B-x'] }).value).toEqual({ a: ['[redacted:badge]', 'B-x'] })
    const stream = redactor.stream()
    expect(stream.push('see B-1') + stream.push('234.') + stream.end()).toBe('see [redacted:badge].')
  })

  test('[MUS-67] or only its first group; flags are taken', () => {
    const rules = [{ name: 'pin', pattern: 'pin is ([0-9]+)', flags: 'i', replace: 'group1' as const }]
    const redactor = createRedactor({ rules })
    expect(redactor.text('My PIN is 4711!').text).toBe('My PIN is [redacted:pin]!')
    const stream = redactor.stream()
    expect(
      stream.push('PIN ') + stream.push('is ') + stream.push('47') + stream.push('11\nok') + stream.end(),
    ).toBe('PIN is [redacted:pin]\nok')
  })

  test('[MUS-67] a rule outranks the built-in classes where they overlap', () => {
    const redactor = createRedactor({ rules: [{ name: 'ours', pattern: 'ours-[a-z0-9]+' }] })
    expect(redactor.text('API_KEY=ours-12345678').text).toBe('API_KEY=[redacted:ours]')
  })

  test('[MUS-67] what an allow pattern matches as a whole stays', () => {
    const redactor = createRedactor({ allowPatterns: ['test-[a-z0-9]+'], knownValues: ['test-known1'] })
    const event = { text: 'API_KEY=test-12345678 test-known1', password: 'test-abc' }
    expect(redactor.event(event).value).toBe(event)
    expect(redactor.text('API_KEY=xtest-12345678').text).toBe('API_KEY=[redacted:secret-assignment]')
  })
})

describe('refusals', () => {
  const bad: [why: string, rule: RedactionRule][] = [
    ['not a regular expression', { name: 'bad', pattern: '(' }],
    ['empty text', { name: 'bad', pattern: 'a*' }],
    ['nests', { name: 'bad', pattern: '(a+)+b' }],
    ['nests', { name: 'bad', pattern: '(?:[a-z]*x?){2,}y' }],
    ['nests', { name: 'bad', pattern: '((?:\\d{1,500})+)z' }],
    ['nests', { name: 'bad', pattern: '(?<n>(b|(c+)))*d' }],
    ['start the same way', { name: 'bad', pattern: '(?:a|ab)+c' }],
    ['start the same way', { name: 'bad', pattern: '(?:\\w|x)+c' }],
    ['start the same way', { name: 'bad', pattern: '(.|a)*c' }],
    ['flags', { name: 'bad', pattern: 'abc', flags: 'y' }],
    ['flags', { name: 'bad', pattern: 'abc', flags: 'ii' }],
    ['no group', { name: 'bad', pattern: 'abc', replace: 'group1' }],
    ['name', { name: 'Bad Name', pattern: 'abc' }],
  ]
  for (const [why, rule] of bad) {
    test(`[MUS-67] ${JSON.stringify(rule)}`, () => {
      const error = refusalOf(rule)
      expect(error.code).toBe('invalid')
      expect(error.message).toContain(why)
      expect(error.message).toContain(`rule "${rule.name}"`)
    })
  }

  test('[MUS-67] a bad allow pattern is named too', () => {
    expect(() => createRedactor({ allowPatterns: ['(x+)+'] })).toThrow('allow pattern "(x+)+"')
  })

  for (const pattern of [
    '(?:ab|cd)+e',
    '[a-z]+-[0-9]+',
    '(?:x-[0-9]{4}){1,9}',
    '(?=a)b{2,5}',
    '[(]+[)]+',
    '\\(+a\\)+',
  ]) {
    test(`[MUS-67] ${pattern} is accepted`, () => {
      expect(() => createRedactor({ rules: [{ name: 'fine', pattern }] })).not.toThrow()
    })
  }
})
