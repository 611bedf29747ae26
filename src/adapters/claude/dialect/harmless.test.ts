import fc from 'fast-check'
import { expect, test } from 'vitest'
import { harmless } from './harmless.ts'

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
