import { describe, expect, test } from 'vitest'
import { secretSamples } from '../../../test/support/secret-kinds.ts'
import { createRedactor } from './redactor.ts'

const redactor = createRedactor()
const perKind = 8
const kinds = [...Map.groupBy(secretSamples(perKind, 3), (sample) => sample.kind)]

/** Every stretch of this length counts as a piece of the secret. */
const piece = 12

const piecesOf = (secret: string): string[] =>
  Array.from({ length: Math.max(1, secret.length - piece + 1) }, (_, i) => secret.slice(i, i + piece))

describe('kinds of secrets', () => {
  test('[MUS-57] more than 150 kinds are known', () => {
    expect(kinds.length).toBeGreaterThan(150)
  })

  for (const [kind, samples] of kinds) {
    test(`[MUS-57] ${kind}: nothing of it is left wherever it stands, and its class is named`, () => {
      for (const { text, secret, class: secretClass } of samples) {
        const result = redactor.text(text)
        expect(
          piecesOf(secret).filter((part) => result.text.includes(part)),
          text,
        ).toEqual([])
        expect(result.counts, text).toHaveProperty([secretClass])
        expect(redactor.text(result.text).text).toBe(result.text)
      }
    })
  }

  test('[MUS-62] in a stream of single characters each is replaced as in the whole text', () => {
    for (const [, samples] of kinds) {
      for (const { text } of samples) {
        const stream = redactor.stream()
        const out = Array.from(`${text}\nand more`, (char) => stream.push(char)).join('') + stream.end()
        expect(out).toBe(redactor.text(`${text}\nand more`).text)
      }
    }
  })
})
