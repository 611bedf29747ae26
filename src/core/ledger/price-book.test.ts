import { expect, test } from 'vitest'
import { builtInProviders } from '../../contract/config/model-settings.ts'
import listPrices from '../../contract/list-prices.json' with { type: 'json' }
import { PriceList } from '../../contract/price.ts'
import { PriceBook } from './price-book.ts'

const list = {
  asOf: '2026-09-22',
  source: 'a test',
  models: {
    'model-a': { input: 4, output: 20, cacheRead: 0.2, cacheWrite: 5 },
    'model-a-mini': { input: 1, output: 2 },
    'model-b': { input: 1, output: 10, long: { over: 1000, input: 2, output: 20 } },
    'free-*': { input: 0, output: 0 },
  },
}
const usage = { input: 1000, output: 100, cacheRead: 500, cacheWrite: 10 }

test('[MUS-326] a call costs what its tokens cost, each kind at its own price', () => {
  const book = new PriceBook(list)
  const cost = (1000 * 4 + 100 * 20 + 500 * 0.2 + 10 * 5) / 1e6
  expect(book.estimate('model-a', usage)).toEqual({
    costUsd: expect.closeTo(cost, 12),
    priceList: '2026-09-22',
  })
  // A cache without a price costs what input does; reasoning is a part of the output.
  expect(book.estimate('model-a-mini', { ...usage, reasoning: 90 })?.costUsd).toBeCloseTo(
    (1510 * 1 + 100 * 2) / 1e6,
    12,
  )
})

test('[MUS-326] a long prompt has its own price, for all of the call', () => {
  const book = new PriceBook(list)
  expect(book.estimate('model-b', { input: 1000, output: 100 })?.costUsd).toBeCloseTo(0.002, 12)
  expect(book.estimate('model-b', { input: 900, output: 100, cacheRead: 101 })?.costUsd).toBeCloseTo(
    0.004002,
    12,
  )
})

test('[MUS-326] a model is known under the names that providers give it, and a similar name is another model', () => {
  const book = new PriceBook(list)
  for (const name of [
    'model-a',
    'MODEL-A',
    'openrouter/vendor/model-a',
    'model-a-20260922',
    'model-a-2026-09-22',
    'us.anthropic.model-a-20260922-v1:0',
    'model-a@20260922',
    'model-a[1m]',
    'free-anything',
  ])
    expect([name, book.knows(name)]).toEqual([name, true])
  for (const name of ['model', 'model-a-maxi', 'model-aa', 'unknown', 'scripted', 'not-free-x'])
    expect([name, book.estimate(name, usage)]).toEqual([name, undefined])
})

test('[MUS-326] the prices of the settings count before the list, whole names before patterns, longer ones first', () => {
  const book = new PriceBook(list, {
    'Model-A': { input: 1, output: 1 },
    'my-*': { input: 3, output: 3 },
    'my-*-mini': { input: 2, output: 2 },
  })
  const million = { input: 1_000_000 }
  expect(book.estimate('model-a', million)).toEqual({ costUsd: 1, priceList: 'settings' })
  expect(book.estimate('my-big', million)).toEqual({ costUsd: 3, priceList: 'settings' })
  expect(book.estimate('my-own-mini', million)).toEqual({ costUsd: 2, priceList: 'settings' })
  expect(book.estimate('model-b', { input: 1 })?.priceList).toBe('2026-09-22')
})

test('[MUS-326] the shipped list has a date and a source, and a price for the models that agents are run with', () => {
  const shipped = PriceList.parse(listPrices)
  const book = new PriceBook(shipped)
  const models = [...builtInProviders.values()].flatMap((provider) => provider.models)
  // Nobody publishes what an alias of Google's costs while it is not said which model it is.
  const without = models.filter((model) => !book.knows(model))
  expect(without).toEqual(['gemini-pro-latest', 'scripted'])
  for (const name of ['gpt-5.1-codex', 'gemini-2.5-pro', 'claude-opus-5-5', 'claude-opus-4-5-20251101'])
    expect(book.knows(name)).toBe(true)
  // A million tokens of any kind cost less than a thousand dollars: no price is written for one token or a thousand.
  for (const { input, output } of Object.values(shipped.models)) {
    expect(input).toBeGreaterThan(0.01)
    expect(output).toBeGreaterThanOrEqual(input)
    expect(output).toBeLessThan(1000)
  }
})
