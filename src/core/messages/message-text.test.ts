import { expect, test } from 'vitest'
import { typing } from '../../adapters/claude/claude-typing.ts'
import { codexDialect } from '../../adapters/codex/codex-cli.ts'
import { geminiDialect } from '../../adapters/gemini/gemini-cli.ts'
import { opencodeDialect } from '../../adapters/opencode/opencode-cli.ts'
import { piDialect } from '../../adapters/pi/pi-cli.ts'
import { holdsText, isSameText, isShown } from './message-text.ts'

test('[SM-42] a prompt is the receipt of a text only when it has all of it', () => {
  const long = `${'word '.repeat(500)}the end`
  expect(holdsText(long, long)).toBe(true)
  expect(holdsText(`a note before\n${long}\n`, long)).toBe(true)
  expect(holdsText(long.slice(0, 2000), long)).toBe(false)
  expect(holdsText('a\tb\u0007  c', 'a b c')).toBe(true)
  expect(holdsText('caf\u00e9', 'cafe\u0301')).toBe(true)
  expect(holdsText('a 👩\ufffd b', 'a 👩\u200d\ufffd b')).toBe(true)
  expect(holdsText('ok then', 'ok')).toBe(false)
  expect(holdsText('anything', '')).toBe(false)
})

test('[SM-42] of a text with something redacted, what stands before it is compared', () => {
  expect(isSameText('use the key abc for all of it', 'use the key [redacted:api-key] for all of it')).toBe(
    true,
  )
  expect(isSameText('abc for all of it', '[redacted:api-key] for all of it')).toBe(false)
  expect(isSameText('whatever', '')).toBe(false)
})

const { marker } = typing('2.1.325')
const shows = (shown: string, text: string) => isShown(shown, text, marker)

test('[SM-43] a text is known as ours however the box wraps and draws it', () => {
  expect(shows('one two\nthree', 'one two three')).toBe(true)
  expect(shows('tab    here', 'tab\there')).toBe(true)
  expect(shows('e n o', 'e\u0301 n\u0303 o\u0308')).toBe(true)
  expect(shows('\u00e9 \u00f1 \u00f6', 'e\u0301 n\u0303 o\u0308')).toBe(true)
  expect(shows('ok \ufffd\ufffd', 'ok 👩‍👩‍👧 🇩🇪')).toBe(true)
  expect(shows('👍', '👍🏽')).toBe(true)
  expect(shows('', '👍🏽')).toBe(false)
})

test('[SM-43] a marker is ours only when nothing else stands beside it', () => {
  const long = Array.from({ length: 40 }, (_, i) => `line ${i}`).join('\n')
  expect(shows('[Pasted text #3 +39 lines]', long)).toBe(true)
  expect(shows('[Pasted text #3 +39 lines] and this', long)).toBe(false)
  expect(shows('fix it: [Pasted text #3 +39 lines]', long)).toBe(false)
  expect(shows('[Pasted text #3 +2 lines][Pasted text #4 +39 lines]', long)).toBe(false)
  expect(shows('[Pasted text #3 +12 lines]', long)).toBe(false)
  expect(shows('[Pasted text #3]', 'word '.repeat(400))).toBe(true)
  expect(shows('line 0\nline 1\n[...Truncated text #1 +30 lines...]\nline 38\nline 39', long)).toBe(true)
  expect(shows('draft line 0\n[...Truncated text #1 +30 lines...]\nline 39', long)).toBe(false)
})

test('[SM-43] a draft before, behind or in place of it is never taken for ours', () => {
  expect(shows('half a thought fix the test', 'fix the test')).toBe(false)
  expect(shows('fix the test half a thought', 'fix the test')).toBe(false)
  expect(shows('fix', 'fix the test')).toBe(false)
  expect(shows('test', 'fix the test')).toBe(false)
  const long = 'word '.repeat(200)
  expect(isShown(long.slice(300), long)).toBe(true)
  expect(isShown(`${long.slice(300)} x`, long)).toBe(false)
  const short = Array.from({ length: 60 }, (_, i) => `a${i}`)
  expect(isShown(short.slice(30).join('\n'), short.join('\n'))).toBe(true)
  expect(isShown(short.slice(-3).join('\n'), short.join('\n'))).toBe(false)
})

const lines = (count: number) => Array.from({ length: count }, (_, i) => `line ${i}`).join('\n')

test.for([
  ['Codex', codexDialect, '[Pasted Content 4000 chars]', 'abcd'.repeat(1000), '[Pasted Content 4001 chars]'],
  ['Gemini', geminiDialect, '[Pasted Text: 598 chars]', 'x'.repeat(598), '[Pasted Text: 599 chars]'],
  ['Gemini', geminiDialect, '[Pasted Text: 23 lines]', lines(23), '[Pasted Text: 22 lines]'],
  ['OpenCode', opencodeDialect, '[Pasted ~23 lines]', lines(23), '[Pasted ~7 lines]'],
  ['pi', piDialect, '[paste #1 2000 chars]', 'x'.repeat(2000), '[paste #1 1999 chars]'],
  ['pi', piDialect, '[paste #9 2801 chars]', `${'a\tb '.repeat(400)}.`, '[paste #9 2802 chars]'],
  ['pi', piDialect, '[paste #2 +23 lines]', lines(23), '[paste #2 +24 lines]'],
] as const)(
  '[MUS-320] %s: a folded paste is known as ours by what its marker says of it',
  ([, { typing: of }, own, text, other]) => {
    const { marker: fold } = of('')
    expect(isShown(own, text, fold)).toBe(true)
    expect(isShown(other, text, fold)).toBe(false)
    expect(isShown(`${own} and this`, text, fold)).toBe(false)
    expect(isShown(`and ${own}`, text, fold)).toBe(false)
  },
)
