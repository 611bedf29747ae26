import type { ModelsConfig } from '../contract/config/model-settings.ts'
import listPrices from '../contract/list-prices.json' with { type: 'json' }
import { PriceList } from '../contract/price.ts'
import { PriceBook } from '../core/ledger/price-book.ts'

/** The shipped price list, with the prices of the settings before it. */
export function priceBook(own: ModelsConfig['prices']): PriceBook {
  const prices = Object.entries(own).map(([model, { input, output, cache_read, cache_write }]) => {
    const cache = {
      ...(cache_read !== undefined && { cacheRead: cache_read }),
      ...(cache_write !== undefined && { cacheWrite: cache_write }),
    }
    return [model, { input, output, ...cache }] as const
  })
  return new PriceBook(PriceList.parse(listPrices), Object.fromEntries(prices))
}
