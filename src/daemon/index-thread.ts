import { Worker } from 'node:worker_threads'
import type { Index } from '../ports/index.ts'
import type { HomeFiles } from './home.ts'
import type { QueryWorkerData } from './query-worker.ts'
import { WorkerCalls, workerEntry } from './worker-calls.ts'

/** What the index thread is told. */
export type IndexCommand =
  | { readonly watermark: number }
  | { readonly rebuild: true }
  | { readonly stop: true }

/** How far a follower has come and what it set aside. */
export type FollowerReport = {
  readonly name: 'index' | 'search'
  readonly seq: number
  readonly parked: readonly { readonly seq: number; readonly error: string }[]
  /** Why it does not get on; it tries again by itself. */
  readonly error?: string
  /** The files are new ones; whoever has the old ones open must open them again. */
  readonly rebuilt?: boolean
}

export type IndexThreadData = Pick<HomeFiles, 'journal' | 'index' | 'search'>

const restartMs = 1000

/** The thread that builds the index and the search texts; it reads the journal's files itself. */
export class IndexThread {
  readonly #data: IndexThreadData
  readonly #onBug: (error: Error) => void
  readonly #onParked: (follower: string, parked: FollowerReport['parked'][number]) => void
  readonly #reports = new Map<string, FollowerReport>()
  readonly #onRebuilt: () => void
  readonly #waiters = new Set<() => void>()
  #worker: Worker | undefined
  #watermark = 0
  #stopping = false

  constructor(
    data: IndexThreadData,
    on: {
      bug: (error: Error) => void
      parked: (follower: string, parked: FollowerReport['parked'][number]) => void
      rebuilt: () => void
    },
  ) {
    this.#data = data
    this.#onBug = on.bug
    this.#onParked = on.parked
    this.#onRebuilt = on.rebuilt
  }

  start(watermark: number): void {
    this.#watermark = watermark
    const worker = new Worker(workerEntry('index-worker'), { workerData: this.#data })
    this.#worker = worker
    worker.on('message', (report: FollowerReport) => {
      const parked = [...(this.#reports.get(report.name)?.parked ?? []), ...report.parked].slice(-100)
      this.#reports.set(report.name, { ...report, parked })
      if (report.rebuilt) this.#onRebuilt()
      for (const one of report.parked) this.#onParked(report.name, one)
      for (const wake of this.#waiters) wake()
    })
    worker.on('error', this.#onBug)
    worker.on('exit', () => {
      this.#worker = undefined
      for (const wake of this.#waiters) wake()
      // A thread that died starts again: the journal has all it needs.
      if (!this.#stopping) setTimeout(() => this.#startAgain(), restartMs).unref()
    })
    this.#send({ watermark })
  }

  advance(watermark: number): void {
    this.#watermark = watermark
    this.#send({ watermark })
  }

  reports(): FollowerReport[] {
    return [...this.#reports.values()]
  }

  /** Resolves when the index has taken everything up to a seq; false when the signal or the end of the daemon ends the wait. */
  async reached(seq: number, signal: AbortSignal): Promise<boolean> {
    // Without a report it has not even opened its file.
    while ((this.#reports.get('index')?.seq ?? -1) < seq) {
      if (signal.aborted || this.#stopping) return false
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#waiters.delete(wake)
          signal.removeEventListener('abort', wake)
          resolve()
        }
        this.#waiters.add(wake)
        signal.addEventListener('abort', wake, { once: true })
      })
    }
    return true
  }

  rebuild(): void {
    this.#reports.clear()
    this.#send({ rebuild: true })
    this.#send({ watermark: this.#watermark })
  }

  async stop(): Promise<void> {
    this.#stopping = true
    for (const wake of this.#waiters) wake()
    const worker = this.#worker
    if (!worker) return
    const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    this.#send({ stop: true })
    await exited
  }

  #startAgain(): void {
    if (!this.#worker && !this.#stopping) this.start(this.#watermark)
  }

  #send(command: IndexCommand): void {
    this.#worker?.postMessage(command)
  }
}

/** Questions to the index, answered in a thread of their own: a heavy one delays only the next question. */
export class IndexClient implements Index {
  readonly #worker: WorkerCalls
  readonly #thread: IndexThread

  constructor(files: QueryWorkerData, thread: IndexThread) {
    this.#thread = thread
    this.#worker = new WorkerCalls(workerEntry('query-worker'), files)
    this.#worker.warm()
  }

  get waiting(): number {
    return this.#worker.waiting
  }

  ask: Index['ask'] = (method, ...args) => this.#worker.call('ask', method, ...args)

  search: Index['search'] = (...args) => this.#worker.call('search', ...args)

  reached: Index['reached'] = (seq, signal) => this.#thread.reached(seq, signal)

  rebuild(): void {
    this.#thread.rebuild()
  }

  /** After the files were built again. */
  reopen(): Promise<void> {
    return this.#worker.call('reopen')
  }

  close(): Promise<void> {
    return this.#worker.close()
  }
}
