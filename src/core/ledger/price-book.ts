import type * as z from 'zod'
import { ownPrices, type Price, type PriceList } from '../../contract/price.ts'
import type { Tokens } from '../../contract/values.ts'

/** What a call costs by a price list; the list is named, because it is an estimate and not a bill. */
export type Estimate = { readonly costUsd: number; readonly priceList: string }

/** The prices of models: those of the settings first, then the shipped list. */
export class PriceBook {
  readonly #own: Matcher
  readonly #list: Matcher
  readonly #asOf: string

  constructor(list: PriceList, own: Readonly<Record<string, Price>> = {}) {
    this.#own = matcherOf(own)
    this.#list = matcherOf(list.models)
    this.#asOf = list.asOf
  }

  /** Whether anything is known of what a model costs; a name that is only similar is another model. */
  knows(model: string): boolean {
    return this.#find(model) !== undefined
  }

  /** Nothing for a model without a price: a guess would look like a fact. */
  estimate(model: string, usage: z.infer<typeof Tokens>): Estimate | undefined {
    const found = this.#find(model)
    return found && { costUsd: costOf(usage, found.price), priceList: found.priceList }
  }

  #find(model: string): { readonly price: Price; readonly priceList: string } | undefined {
    for (const name of namesOf(model)) {
      const own = this.#own(name)
      if (own) return { price: own, priceList: ownPrices }
      const listed = this.#list(name)
      if (listed) return { price: listed, priceList: this.#asOf }
    }
    return undefined
  }
}

type Matcher = (name: string) => Price | undefined

/** A whole name counts before a pattern, and a longer pattern before a shorter one. */
function matcherOf(prices: Readonly<Record<string, Price>>): Matcher {
  const entries = Object.entries(prices).map(([name, price]) => ({ name: name.toLowerCase(), price }))
  const exact = new Map(entries.map(({ name, price }) => [name, price]))
  const patterns = entries
    .filter(({ name }) => name.includes('*'))
    .toSorted((a, b) => b.name.length - a.name.length)
  return (name) => exact.get(name) ?? patterns.find((entry) => fits(name, entry.name.split('*')))?.price
}

/** Whether a name has these parts in their order, the first at its beginning and the last at its end. */
function fits(name: string, parts: readonly string[]): boolean {
  const [first = '', ...rest] = parts
  const last = rest.pop() ?? ''
  if (!name.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = name.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return name.length - last.length >= at && name.endsWith(last)
}

/** A model's name as it was given, then without what providers put around it: their own name, a date, a version. */
function namesOf(model: string): string[] {
  const given = model.toLowerCase()
  const bare = given.slice(given.lastIndexOf('/') + 1)
  const plain = bare.replace(/^(?:[a-z]+\.)?anthropic\./, '').replace(/(?:\[1m\]|-v\d+:\d+|@.*)$/, '')
  const undated = plain.replace(/-(?:\d{8}|\d{4}-\d\d-\d\d)$/, '')
  return [...new Set([given, bare, plain, undated])]
}

function costOf(usage: z.infer<typeof Tokens>, price: Price): number {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = usage
  const { long } = price
  const rates = long && input + cacheRead + cacheWrite > long.over ? long : price
  const spent =
    input * rates.input +
    output * rates.output +
    cacheRead * (rates.cacheRead ?? rates.input) +
    cacheWrite * (rates.cacheWrite ?? rates.input)
  return spent / 1_000_000
}
