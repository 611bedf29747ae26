import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPrefilter } from './prefilter.ts'

const anchors = ['abc', 'sk-', 'TokeN', 'long-literal-with-é', '日本']

test('[MUS-56] each literal is found at every place of any text', () => {
  const prefilter = createPrefilter(anchors.map((text, owner) => ({ text, owner })))
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.string(),
      fc.nat(anchors.length - 1),
      (before, after, owner) => {
        expect(prefilter.find(before + anchors[owner] + after)).toContain(owner)
      },
    ),
  )
})

test('[MUS-63] nothing else is found', () => {
  const prefilter = createPrefilter(anchors.map((text, owner) => ({ text, owner })))
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'abckes-TKoN日本é'.split('')) }), (text) => {
      const expected = anchors.flatMap((anchor, owner) => (text.includes(anchor) ? [owner] : []))
      expect(new Set(prefilter.find(text))).toEqual(new Set(expected))
    }),
  )
})

test('[MUS-56] case is ignored only where asked for', () => {
  const prefilter = createPrefilter([
    { text: 'token', owner: 0, fold: true },
    { text: 'akia', owner: 1 },
  ])
  expect(prefilter.find('a TOKen')).toEqual([0])
  expect(prefilter.find('AKIA')).toEqual([])
})

test('[MUS-56] a literal over the edge of a reading window is found', () => {
  const needle = 'needle-0123456789'
  const prefilter = createPrefilter([{ text: needle, owner: 3 }])
  for (let at = 32_768 - needle.length - 2; at < 32_768 + 2; at++) {
    expect(prefilter.find(`${'x'.repeat(at)}${needle}${'y'.repeat(50_000)}`)).toEqual([3])
  }
})

test('[MUS-56] what follows decides, and the end of the text leaves it open', () => {
  const plausible = (bytes: Uint8Array, at: number, length: number): boolean =>
    at >= length || bytes[at] === 61
  const prefilter = createPrefilter([{ text: 'key', owner: 1, next: '=', plausible }])
  expect(prefilter.find('a key=')).toEqual([1])
  expect(prefilter.find('a key')).toEqual([1])
  expect(prefilter.find('a key is')).toEqual([])
})

test('[MUS-56] one character between others is found at every place', () => {
  const prefilter = createPrefilter([{ text: '-', owner: 2, before: '09', next: '19' }])
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), (before, after) => {
      expect(prefilter.find(`${before}9-19${after}`)).toEqual([2])
      expect(prefilter.find(`${before}0-91`)).toEqual([2])
    }),
  )
  expect(prefilter.find('a - b x-y --2 0-8')).toEqual([])
})
