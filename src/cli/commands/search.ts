import type { DataCommand } from '../command-module.ts'
import { renderHits } from '../render/search-hits.ts'

export const search: DataCommand<'search'> = {
  run: async ({ query, session, limit }, io) => {
    const client = await (await io.daemon()).client()
    const input = { q: query.join(' '), limit, ...(session === undefined ? {} : { session }) }
    return client.search(input, { signal: io.signal })
  },
  render: renderHits,
}
