import { expect, test } from 'vitest'
import { graphemes } from '../render/graphemes.ts'
import { edit, emptyLine, insert, textOf } from './line-editor.ts'

const typed = (...keys: string[]) => keys.reduce(edit, emptyLine)

test('what people see as one character is moved over and deleted as one', () => {
  expect(typed('a', '👩‍👩‍👧', '<bs>')).toEqual({ before: 'a', after: '' })
  expect(typed('e\u0301', '<left>')).toEqual({ before: '', after: 'e\u0301' })
  expect(typed('日', '本', '<left>', '<del>')).toEqual({ before: '日', after: '' })
})

test('the keys of every shell work', () => {
  const line = typed(...graphemes('one two three'))
  expect(textOf(edit(line, '<c-w>'))).toBe('one two ')
  expect(textOf(edit(edit(line, '<a-bs>'), '<c-w>'))).toBe('one ')
  expect(edit(line, '<home>')).toEqual({ before: '', after: 'one two three' })
  expect(edit(edit(line, '<c-a>'), '<right>')).toEqual({ before: 'o', after: 'ne two three' })
  expect(textOf(edit({ before: 'ab', after: 'cd' }, '<c-u>'))).toBe('cd')
  expect(textOf(edit({ before: 'ab', after: 'cd' }, '<c-k>'))).toBe('ab')
  expect(edit({ before: 'ab', after: 'cd' }, '<end>')).toEqual({ before: 'abcd', after: '' })
})

test('names of keys and control characters are no text, a lone < is', () => {
  expect(textOf(typed('<up>', '<tab>', '<pagedown>', '<', 'x'))).toBe('<x')
  expect(textOf(insert(emptyLine, 'a\r\nb\tc\u0007d'))).toBe('a b cd')
})
