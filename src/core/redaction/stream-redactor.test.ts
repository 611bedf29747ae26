import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { secretSamples } from '../../../test/support/secret-kinds.ts'
import { plantedKnownValue, plantedSecrets } from '../../../test/support/secrets.ts'
import { runs } from '../../../test/support/size.ts'
import { createRedactor } from './redactor.ts'

const known = plantedKnownValue(21)
const redactor = createRedactor({ knownValues: [known.value] })
const planted = plantedSecrets(22)

const streamed = (chunks: readonly string[]): string => {
  const stream = redactor.stream()
  return chunks.map((chunk) => stream.push(chunk)).join('') + stream.end()
}

const kinds = secretSamples(2, 5)

const fragment = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...kinds.map((sample) => sample.text)) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ...'machine |login |password |"auth"|: "|mysql |docker |-p|discord |twilio |>-|\n  |\n|    |\\n|" + "|_auth| = '.split(
        '|',
      ),
      'password: |',
      'a1b2c3d4e5f6 ',
    ),
  },
  { weight: 4, arbitrary: fc.constantFrom(...planted.map((secret) => secret.text)) },
  { weight: 2, arbitrary: fc.constantFrom(...Object.values(known.forms)) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      ...`the token is|password|password: |token = |"secret": "|\n|  |Authorization: |Bearer |cookie: a|curl -u |://|user:|@host|---|-----BEGIN |日本語|é|😀|API_KEY=|[redacted:jwt]|--password |'|"|\\"|;`.split(
        '|',
      ),
    ),
  },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
)

/** A text and the places to cut it. */
const cutText = fc
  .tuple(
    fc.array(fragment, { maxLength: 8 }),
    fc.constantFrom(' ', '', '\n'),
    fc.array(fc.nat(), { maxLength: 40 }),
  )
  .map(([parts, glue, cuts]) => ({ text: parts.join(glue), cuts }))

const cutAt = ({ text, cuts }: { text: string; cuts: number[] }): string[] => {
  const edges = [...new Set([0, ...cuts.map((cut) => cut % (text.length + 1)), text.length])].sort(
    (a, b) => a - b,
  )
  return edges.slice(1).map((end, i) => text.slice(edges[i], end))
}

describe('properties', () => {
  test('[MUS-62] cut anywhere, a stream gives the text the whole one gives', () => {
    fc.assert(
      fc.property(cutText, (sample) => {
        expect(streamed(cutAt(sample))).toBe(redactor.text(sample.text).text)
      }),
      runs(1500),
    )
  })

  test('[MUS-62] character by character, no planted secret is ever given out', () => {
    for (const { text, secret } of planted) {
      const out = streamed(`before ${text} after`.split(''))
      expect(out).not.toContain(secret)
      expect(out).toBe(redactor.text(`before ${text} after`).text)
    }
    for (const text of Object.values(known.forms))
      expect(streamed(text.split(''))).toBe(redactor.text(text).text)
  })

  test('[MUS-62] a pair of surrogates is never given out in halves', () => {
    fc.assert(
      fc.property(cutText, (sample) => {
        const stream = redactor.stream()
        for (const chunk of cutAt(sample)) {
          const out = stream.push(chunk)
          expect(/[\uD800-\uDBFF]$/.test(out)).toBe(false)
        }
      }),
    )
  })
})

describe('delay', () => {
  test('[MUS-62] ordinary words go out as soon as the next space comes', () => {
    const stream = redactor.stream()
    expect(stream.push('Hello wor')).toBe('Hello ')
    expect(stream.push('ld')).toBe('')
    expect(stream.push(', this is ')).toBe('world, this is ')
    expect(stream.push('日本語')).toBe('日本語')
    expect(stream.end()).toBe('')
  })

  test('[MUS-62] a word that could announce a secret waits for the next one only', () => {
    const stream = redactor.stream()
    expect(stream.push('the token ')).toBe('the ')
    expect(stream.push('is good ')).toBe('token is good ')
  })

  test('[MUS-62] however long the word, at most 8 KB are held back', () => {
    const stream = redactor.stream()
    let out = ''
    for (let i = 0; i < 4000; i++) {
      out += stream.push('iVBORw0KGgo')
      expect((i + 1) * 11 - out.length).toBeLessThanOrEqual(8192)
    }
    expect(out + stream.end()).toBe('iVBORw0KGgo'.repeat(4000))
  })
})

describe('overflow', () => {
  const edge = (word: string): string => `-----${word} ${'PRIVATE'} KEY-----`
  const body = Array.from({ length: 400 }, (_, i) => `${i}`.padStart(4, 'A') + 'bC3/+x9QpL1z'.repeat(5)).join(
    '\n',
  )
  const chunked = (text: string, size: number): string[] =>
    Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size))

  test('[MUS-62] a key block longer than the limit is one marker, up to its end', () => {
    const text = `here: ${edge('BEGIN')}\n${body}\n${edge('END')}\nand more text\n`
    for (const size of [7, 64, 1000, 9000]) {
      expect(streamed(chunked(text, size))).toBe('here: [redacted:private-key]\nand more text\n')
    }
  })

  test('[MUS-62] a long key block without an end does not swallow the prose after it', () => {
    const prose = 'This is the next paragraph, and it goes on for a while. '.repeat(10)
    const out = streamed(chunked(`${edge('BEGIN')}\n${body}\n\n${prose}`, 50))
    expect(out.startsWith('[redacted:private-key]')).toBe(true)
    expect(out.endsWith(prose)).toBe(true)
    expect(out).not.toContain('bC3/+x9Q')
  })

  test('[MUS-62] one endless secret is one marker, and the text after it comes through', () => {
    const text = `API_KEY=${'a1B2c3D4'.repeat(3000)} then more`
    expect(streamed(chunked(text, 100))).toBe('API_KEY=[redacted:secret-assignment] then more')
    expect(redactor.text(text).text).toBe('API_KEY=[redacted:secret-assignment] then more')
  })

  test('[MUS-62] a secret deep inside an endless word is still found', () => {
    const secret = planted.find((one) => one.class === 'github-token')!.secret
    const text = `${'x/'.repeat(9000)}${secret}${'/x'.repeat(9000)}`
    expect(streamed(chunked(text, 333))).toBe(redactor.text(text).text)
    expect(streamed(chunked(text, 333))).not.toContain(secret)
  })

  test('[MUS-62] in long texts with hardly a space, cut anywhere, no planted secret is given out', () => {
    const single = planted.filter((one) => !/\s/.test(one.secret))
    const filler = fc.constantFrom(
      'x/'.repeat(4500),
      'iVBORw0K'.repeat(1300),
      '日本'.repeat(3000),
      'token: '.repeat(700),
      'a=b&'.repeat(900),
    )
    const long = fc.array(fc.oneof(filler, fc.constantFrom(...single.map((one) => ` ${one.text} `))), {
      minLength: 2,
      maxLength: 6,
    })
    fc.assert(
      fc.property(long, fc.integer({ min: 50, max: 12_000 }), (parts, size) => {
        const out = streamed(chunked(parts.join(''), size))
        for (const { secret } of single) expect(out.includes(secret)).toBe(false)
      }),
      runs(60),
    )
  })
})
