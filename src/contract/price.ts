import * as z from 'zod'

const perMillion = z.number().nonnegative().max(1_000_000)

const rates = {
  input: perMillion,
  output: perMillion,
  /** What is read from the cache and written to it costs the price of input where it has none of its own. */
  cacheRead: perMillion.optional(),
  cacheWrite: perMillion.optional(),
}

/** What a model costs: dollars for a million tokens of each kind, and more where its prompt is long. */
export const Price = z.strictObject({
  ...rates,
  /** For every token of a call whose prompt has more than so many tokens. */
  long: z.strictObject({ over: z.int().positive(), ...rates }).optional(),
})
export type Price = z.infer<typeof Price>

/** Prices as they were on a day, and who published them; a name may have `*` for any characters. */
export const PriceList = z.strictObject({
  asOf: z.iso.date(),
  source: z.string(),
  models: z.record(z.string(), Price),
})
export type PriceList = z.infer<typeof PriceList>

/** What calls of which no CLI told the cost were priced by: the day of the shipped list, or the word `settings`. */
export const ownPrices = 'settings'
