import { expect, test } from 'vitest'
import { typedText } from './typed-text.ts'

const typed = (text: string) => typedText(text, /^[/!]/)

test('[MUS-320] what would make a command of a text, or swallow the Enter after it, is made harmless', () => {
  expect(typed('  /exit')).toBe('Message: /exit')
  expect(typed('see /exit')).toBe('see /exit')
  for (const end of ['a\\', 'see @file', 'echo $HOME', '@', 'two\nlines $x'])
    expect(typed(end)).toBe(`${end} `)
  for (const end of ['costs 5$', 'me@home', '$HOME and more']) expect(typed(end)).toBe(end)
  expect(typed('red \u001b[31m\r\nnext\rlast\n\n')).toBe('red [31m\nnext\nlast')
})
