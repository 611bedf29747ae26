import type { IndexQueries, SearchQueries } from '../ports/index.ts'
import type { QueryWorkerData } from './query-worker.ts'
import { WorkerCalls } from './worker-calls.ts'
import { workerEntry } from './worker-entry.ts'

type Questions = Omit<IndexQueries, 'close'>

/** Questions to the index, answered in a thread of their own: a heavy one delays only the next question. */
export class IndexClient {
  readonly #worker: WorkerCalls

  constructor(files: QueryWorkerData) {
    this.#worker = new WorkerCalls(workerEntry('query-worker'), files)
    this.#worker.warm()
  }

  get waiting(): number {
    return this.#worker.waiting
  }

  ask<M extends keyof Questions>(
    method: M,
    ...args: Parameters<Questions[M]>
  ): Promise<ReturnType<Questions[M]>> {
    return this.#worker.call('ask', method, ...args)
  }

  search(...args: Parameters<SearchQueries['search']>): Promise<ReturnType<SearchQueries['search']>> {
    return this.#worker.call('search', ...args)
  }

  /** After the files were built again. */
  reopen(): Promise<void> {
    return this.#worker.call('reopen')
  }

  close(): Promise<void> {
    return this.#worker.close()
  }
}
