import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { plantedKnownValue } from '../../../test/support/secrets.ts'
import { runs } from '../../../test/support/size.ts'
import { isSearchable } from './known-values.ts'
import { createRedactor } from './redactor.ts'

const known = plantedKnownValue(4)
const redactor = createRedactor({ knownValues: [known.value] })

describe('forms', () => {
  for (const [name, text] of Object.entries(known.forms)) {
    test(`[MUS-61] ${name}`, () => {
      const result = redactor.text(text)
      expect(result.counts).toEqual({ 'known-value': 1 })
      expect(redactor.text(result.text).text).toBe(result.text)
    })
  }

  test('[MUS-61] base64 at every alignment and length leaves no bit of the value to decode', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 9 }), fc.string({ maxLength: 9 }), (before, after) => {
        for (const encoding of ['base64', 'base64url'] as const) {
          const { text } = redactor.text(Buffer.from(before + known.value + after).toString(encoding))
          expect(text).toContain('[redacted:known-value]')
          const [head = '', tail = ''] = text.split('[redacted:known-value]')
          const bytes = Buffer.from(before).length
          const end = bytes + Buffer.from(known.value).length
          const all = end + Buffer.from(after).length
          expect(head.length).toBe(Math.floor((bytes * 8) / 6))
          expect(tail.replaceAll('=', '').length).toBe(Math.ceil((all * 8) / 6) - Math.ceil((end * 8) / 6))
        }
      }),
    )
  })

  test('[MUS-61] any value is found in any text, and no other text is touched', () => {
    const value = fc.string({ minLength: 8, maxLength: 40 }).filter((text) => isSearchable(text.trim()))
    fc.assert(
      fc.property(value, fc.string(), fc.string(), (secret, before, after) => {
        const own = createRedactor({ knownValues: [secret] })
        const { text } = own.text(before + secret + after)
        expect(text.includes(secret.trim())).toBe(false)
        expect(own.text(text).text).toBe(text)
      }),
      runs(200),
    )
  })

  test('[MUS-61] a value longer than a stream may hold is found in its parts', () => {
    const long = Array.from({ length: 700 }, (_, i) => `${i}-${(i * 7919) % 1009}`).join('.')
    const { text } = createRedactor({ knownValues: [long] }).text(`<${long}>`)
    expect(text).toMatch(/^<(?:\[redacted:known-value\])+>$/)
  })
})

describe('broken over lines', () => {
  const value = 'Rk7mQ2vB9xT4pL8zW3'
  const own = createRedactor({ knownValues: [value] })

  test('[MUS-61] a value broken at any place is one marker, the text around it stays', () => {
    for (const by of ['\n', '\r\n', '\n      ', '\\\n', '\\n', '" + "', `' .\n  '`, '"\n"']) {
      for (let at = 1; at < value.length; at++) {
        const text = `before ${value.slice(0, at)}${by}${value.slice(at)} after`
        expect(own.text(text).text, text).toBe('before [redacted:known-value] after')
      }
    }
  })

  test('[MUS-62] cut anywhere, a stream does not give out a part of it', () => {
    for (const by of ['\n', '\n      ', '" + "', '" +\n  "', '\\\n']) {
      const text = `before ${value.slice(0, 9)}${by}${value.slice(9)} after`
      for (let cut = 1; cut < text.length; cut++) {
        const stream = own.stream()
        const out = stream.push(text.slice(0, cut)) + stream.push(text.slice(cut)) + stream.end()
        expect(out, text).toBe('before [redacted:known-value] after')
      }
    }
  })

  test('[MUS-63] a part of it without the rest stays', () => {
    const text = `${value.slice(0, 9)}\nsomething else\n${value.slice(9)}`
    expect(own.text(text).text).toBe(text)
  })
})

describe('split over fields', () => {
  const value = 'Rk7!mQ2#vB9xT4'
  const split = createRedactor({ knownValues: [value] })

  test('[MUS-61] a value cut in any places over adjacent strings is replaced in each', () => {
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: value.length - 1 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(cuts, fc.boolean(), (places, asList) => {
        const edges = [0, ...places.sort((a, b) => a - b), value.length]
        const parts = edges.slice(1).map((end, i) => value.slice(edges[i], end))
        parts[0] = `before ${parts[0]}`
        parts[parts.length - 1] += ' after'
        const event = asList
          ? { n: 1, parts, last: 'z' }
          : { n: 1, parts: Object.fromEntries(parts.map((part, i) => [`f${i}`, part])), last: 'z' }
        const result = split.event(event)
        const out = Object.values(result.value.parts)
        expect(out[0]).toBe('before [redacted:known-value]')
        expect(out.at(-1)).toBe('[redacted:known-value] after')
        expect(out.slice(1, -1).every((part) => part === '[redacted:known-value]')).toBe(true)
        expect(result.paths.length).toBe(parts.length)
        expect(split.event(result.value).value).toBe(result.value)
      }),
    )
  })

  test('[MUS-63] the parts apart from each other are left alone', () => {
    const event = { a: value.slice(0, 7), b: 'between', c: value.slice(7) }
    expect(split.event(event).value).toBe(event)
  })
})

describe('what is not searched for', () => {
  for (const value of [
    'short',
    'aaaaaaaaaaaa',
    'true',
    '/usr/bin:/bin',
    '/home/me/project',
    '~/projects',
    'localhost',
    '12345678',
    'en_US.UTF-8',
    'http://localhost:3000',
    'anthropic-key',
    'redacted:',
  ]) {
    test(`[MUS-63] ${value}`, () => {
      const text = `here ${value} there`
      expect(createRedactor({ knownValues: [value] }).text(text).text).toBe(text)
    })
  }

  test('[MUS-66] a value that overlaps a marker takes only what is outside of it', () => {
    const own = createRedactor({ knownValues: [']abcdefgh'] })
    expect(own.text('[redacted:jwt]abcdefgh').text).toBe('[redacted:jwt][redacted:known-value]')
  })
})
