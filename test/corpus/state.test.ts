import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { accuracyPage, figuresOf, judgeAll } from './accuracy-page.ts'
import type { CorpusCase } from './corpus-case.ts'
import { asLines, corpus, folder, pageFile } from './generate.ts'

const again = 'run: node scripts/run.mjs test/corpus/generate.ts'

const stored: readonly CorpusCase[] = readdirSync(folder)
  .toSorted()
  .flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n').filter(Boolean))
  .map((line) => JSON.parse(line) as CorpusCase)
const judged = await judgeAll(stored)
const parts = {
  tuned: judged.filter(({ one }) => !one.heldOut),
  'held out': judged.filter(({ one }) => one.heldOut),
}

describe('the corpus of states', () => {
  test('[SM-123] is what its scenarios make', () => {
    for (const [name, cases] of Object.entries(corpus()))
      expect(readFileSync(join(folder, `${name}.jsonl`), 'utf8') === asLines(cases), again).toBe(true)
    expect(readdirSync(folder)).toHaveLength(Object.keys(corpus()).length)
  })

  test('[SM-123] has enough cases, distinct, a third of them held out and many with lost signals', () => {
    expect(stored.length).toBeGreaterThanOrEqual(500)
    expect(new Set(stored.map(({ name }) => name)).size).toBe(stored.length)
    const share = parts['held out'].length / stored.length
    expect(share).toBeGreaterThan(0.25)
    expect(share).toBeLessThan(0.42)
    expect(stored.filter(({ isLossy }) => isLossy).length / stored.length).toBeGreaterThan(0.2)
  })

  test.each(Object.entries(parts))(
    '[SM-65] [SM-69] [SM-70] [SM-123] [SM-128] the %s part is told right',
    (_name, part) => {
      const figures = figuresOf(part)
      expect(figures.share).toBeGreaterThanOrEqual(0.99)
      expect(figures.falselyComplete).toBe(0)
      expect(figures.found / figures.complete).toBeGreaterThanOrEqual(0.95)
    },
  )

  test('[MUS-313] no failed turn is called idle, and nothing dead is called alive', () => {
    const told = (truth: 'failed' | 'error') =>
      new Set(
        judged.flatMap(({ one, outcome }) =>
          one.expected.lifecycle === truth ? [outcome.shown.lifecycle] : [],
        ),
      )
    expect(told('failed')).toEqual(new Set(['failed']))
    expect(told('error')).toEqual(new Set(['error']))
  })

  test('[SM-128] the published figures are fresh', () => {
    expect(readFileSync(pageFile, 'utf8') === accuracyPage(judged), again).toBe(true)
  })
})
