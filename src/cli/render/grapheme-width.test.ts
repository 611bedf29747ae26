import { expect, test } from 'vitest'
import { graphemeWidth } from './grapheme-width.ts'
import { graphemes } from './graphemes.ts'
import { cut, textWidth, wrap } from './text-width.ts'

const widths: readonly (readonly [what: string, columns: 0 | 1 | 2, ...graphemes: string[]])[] = [
  ['letters and signs', 1, 'a', 'é', 'e\u0301', 'ß', 'я', 'ق', 'क', '…', '→', '·', '─', '█', '①', '※', '™'],
  ['half-width kana', 1, 'ｱ', 'ﾝ'],
  ['CJK and full-width forms', 2, '字', '、', '〒', 'ア', 'Ａ', '￥', '𠮷', '㊙', '﹏'],
  ['Hangul, whole and of parts', 2, '한', '\u1112\u1161\u11ab'],
  [
    'pictures by themselves',
    2,
    '✅',
    '⚡',
    '⌚',
    '⏩',
    '♿',
    '⬛',
    '❌',
    '➕',
    '🀄',
    '🃏',
    '🆎',
    '🈁',
    '🚀',
    '🤖',
    '🫠',
    '🪿',
  ],
  ['signs that are text unless they are asked to be pictures', 1, '☀', '✔', '❤', '⚠', '✈', 'ℹ', '▶'],
  ['the same when asked', 2, '☀️', '✔️', '❤️', '⚠️', '✈️', 'ℹ️', '▶️'],
  ['a picture that is asked to be text', 1, '⚡\ufe0e', '⌚\ufe0e'],
  ['keycaps', 2, '1️⃣', '#️⃣', '9\u20e3\ufe0f'],
  ['a keycap without the sign for a picture', 1, '9\u20e3'],
  ['what is written together but takes a column for each part', 2, 'क्ष', 'கா', 'กำ', 'ｶﾞ'],
  ['flags', 2, '🇩🇪', '🇯🇵', '🏴󠁧󠁢󠁳󠁣󠁴󠁿'],
  ['skin tones and joined people', 2, '👍🏽', '👩‍💻', '👨‍👩‍👧‍👦', '🏳️‍🌈', '🧑🏾‍🚀'],
  ['what is not drawn', 0, '\u200b', '\u2060', '\ufeff', '\u0301', '\u200d'],
]

test.for(widths)('%s: %i', ([, columns, ...list]) => {
  for (const grapheme of list) {
    expect(graphemes(grapheme), JSON.stringify(grapheme)).toHaveLength(1)
    expect(graphemeWidth(grapheme), JSON.stringify(grapheme)).toBe(columns)
    expect(textWidth(`\u001b[32m${grapheme}\u001b[0m`)).toBe(columns)
  }
})

test('what people see as one character is never cut or broken in two', () => {
  expect(cut('👩‍💻👩‍💻👩‍💻', 5)).toBe('👩‍💻👩‍💻…')
  expect(wrap('🇩🇪🇯🇵🇫🇷', 4)).toEqual(['🇩🇪🇯🇵', '🇫🇷'])
})
