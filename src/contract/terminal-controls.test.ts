import { expect, test } from 'vitest'
import { printableJson, terminalControls } from './terminal-controls.ts'

const marked = (text: string) => text.replaceAll(terminalControls, '·')

test('[MUS-303] what acts, turns around or hides is found', () => {
  for (const bad of '\u0000\u0007\u0008\r\u000b\u001b\u007f\u0085\u009b\u00ad\u061c\u200b\u200e\u200f\u2028\u202a\u202e\u2060\u2066\u2069\u3164\ufeff\ufff9')
    expect(marked(`a${bad}b`)).toBe('a·b')
  expect(marked('a\u{e0041}\u{e0101}b\u200dc\u200cd\ufe0fe')).toBe('a··b·c·d·e')
  // A picture with a text in its selectors keeps the one that it may have.
  expect(marked('😀\ufe0f\ufe01\u{e0102}')).toBe('😀\ufe0f··')
})

test('[MUS-303] what scripts and pictures need stays', () => {
  for (const good of [
    'two\n\tlines',
    'é 文字 العربية',
    '👩‍💻',
    '❤️‍🔥',
    '1️⃣',
    '©️',
    'می‌خواهم',
    'क्‍ष',
    '葛\u{e0100}',
  ])
    expect(marked(good)).toBe(good)
})

test('[MUS-304] JSON reads as the same value', () => {
  const value = { 'a\u202e': ['\u009b31m\u007f\u{e0041}', 'x\u200dy', '👩‍💻'] }
  const json = printableJson(JSON.stringify(value, null, 2))
  expect(marked(json)).toBe(json)
  expect(json).toContain('\\u009b31m\\u007f\\udb40\\udc41')
  expect(JSON.parse(json)).toEqual(value)
})
