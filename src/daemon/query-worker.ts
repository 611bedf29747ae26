import { parentPort, workerData } from 'node:worker_threads'
import { openIndexQueries } from '../adapters/sqlite/index-queries.ts'
import { openSearchQueries } from '../adapters/sqlite/search-queries.ts'
import type { IndexQueries, SearchQueries } from '../ports/index.ts'
import { serveCalls } from './worker-calls.ts'

export type QueryWorkerData = { readonly index: string; readonly search: string }

const { index, search } = workerData as QueryWorkerData

// Opened by the first question: the files may not be there yet, or be rebuilt while we run.
let rows: IndexQueries | undefined
let texts: SearchQueries | undefined

if (parentPort)
  serveCalls(parentPort, {
    ask: (method: keyof IndexQueries, ...args: unknown[]) => {
      const open = (rows ??= openIndexQueries(index))
      return (open[method] as (...given: unknown[]) => unknown)(...args)
    },
    search: (...args: Parameters<SearchQueries['search']>) => {
      const open = (texts ??= openSearchQueries(search))
      return open.search(...args)
    },
    reopen: () => {
      rows?.close()
      texts?.close()
      rows = undefined
      texts = undefined
    },
  })
