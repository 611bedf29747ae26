import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isAtLeast, versionIn } from '../system/run-program.ts'
import { harmless, typing } from './claude-typing.ts'

test('[MUS-237] Enter waits longer after a paste where it was seen to get lost', () => {
  expect(typing('2.1.197').settleMs).toBe(400)
  expect(typing('2.1.325').settleMs).toBe(120)
  expect(typing('3.0.0').settleMs).toBe(120)
  expect(typing('').settleMs).toBe(400)
})

test('[MUS-237] a long paste is known by its marker', () => {
  const { marker } = typing('2.1.325')
  for (const shown of [
    '[Pasted text #1 +4 lines]',
    '[Pasted text #12]',
    '[Pasted text #2 +39 lines] and more',
  ])
    expect(marker?.test(shown)).toBe(true)
  expect(marker?.test('Pasted text')).toBe(false)
})

test('[SM-44] versions are compared by their numbers', () => {
  expect(isAtLeast('2.1.1000', '2.1.325')).toBe(true)
  expect(isAtLeast('2.1.99', '2.1.200')).toBe(false)
  expect(isAtLeast('2.2.0', '2.1.325')).toBe(true)
  expect(isAtLeast('unknown', '0.0.0')).toBe(false)
  expect(versionIn('2.1.325 (Claude Code)\n')).toBe('2.1.325')
  expect(versionIn('claude')).toBeUndefined()
})

test('[MUS-237] what the CLI would take for a command gets a plain word before it', () => {
  for (const command of [
    '/exit',
    ' /exit',
    '\n/exit',
    '\t/exit',
    '!touch x',
    'exit',
    'quit',
    ' exit',
    ':q',
    ':q!',
    ':wq',
  ])
    expect(harmless(command)).toBe(`Message: ${command.trim()}`)
})

test('[MUS-237] ordinary text stays as it is', () => {
  for (const text of [
    'hello',
    'exit.',
    'Exit',
    'first\n/exit',
    '#note',
    '& go',
    '?',
    '> quote',
    'see @README now',
    '  indented',
  ])
    expect(harmless(text)).toBe(text)
})

test('[MUS-237] an ending that would swallow Enter is closed by a blank', () => {
  expect(harmless('C:\\dir\\')).toBe('C:\\dir\\ ')
  expect(harmless('look at @READ')).toBe('look at @READ ')
  expect(harmless('@READ\n\n')).toBe('@READ ')
  expect(harmless('mail me@example.com')).toBe('mail me@example.com')
})

test('[MUS-237] nothing in it can be a key', () => {
  expect(harmless('a\u001b[201~b\r\nc\rd\u0007\u009b2Je\tf\u007f\n\n')).toBe('a[201~b\nc\nd2Je\tf')
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const typed = harmless(text)
      expect(typed).not.toMatch(/(?![\t\n])\p{Cc}/u)
      expect(typed.trimStart()).not.toMatch(/^[/!]/)
      expect(harmless(typed)).toBe(typed)
    }),
  )
})
