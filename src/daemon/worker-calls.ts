import { type MessagePort, Worker } from 'node:worker_threads'
import { AppError, type ErrorCode } from '../contract/errors.ts'

/** What goes to a worker and what comes back. */
type CallMessage = { readonly id: number; readonly method: string; readonly args: readonly unknown[] }

type ReplyMessage =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: { readonly code?: string; readonly message: string } }

type Waiting = { resolve: (value: never) => void; reject: (error: Error) => void }

const maxWaiting = 10_000

/**
 * Calls into one worker thread; a worker that dies fails its calls and is started again by the next one. After the
 * close none is started: a thread that a late call brought up would keep the stopped daemon alive for ever.
 */
export class WorkerCalls {
  readonly #entry: URL
  readonly #data: unknown
  #worker: Worker | undefined
  #waiting = new Map<number, Waiting>()
  #nextId = 1
  #isClosed = false

  constructor(entry: URL, data: unknown) {
    this.#entry = entry
    this.#data = data
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Starts the thread before the first call, so that this call does not pay for it. */
  warm(): void {
    this.#worker ??= this.#start()
  }

  call<T>(method: string, ...args: unknown[]): Promise<T> {
    if (this.#isClosed) return Promise.reject(stopping())
    if (this.#waiting.size >= maxWaiting)
      return Promise.reject(
        new AppError('limited', `too many calls are waiting for ${this.#entry.pathname}; try again`),
      )
    this.#worker ??= this.#start()
    const id = this.#nextId++
    const message: CallMessage = { id, method, args }
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#worker?.postMessage(message)
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const worker = this.#worker
    this.#worker = undefined
    await worker?.terminate()
    this.#failAll(stopping())
  }

  #start(): Worker {
    const worker = new Worker(this.#entry, { workerData: this.#data })
    worker.on('message', (reply: ReplyMessage) => {
      const waiting = this.#waiting.get(reply.id)
      this.#waiting.delete(reply.id)
      if ('value' in reply) waiting?.resolve(reply.value as never)
      else waiting?.reject(rebuild(reply.error))
    })
    const gone = (error?: Error) => {
      if (this.#worker !== worker) return
      this.#worker = undefined
      this.#failAll(error ?? new Error(`${this.#entry.pathname} ended`))
    }
    worker.on('error', gone)
    worker.on('exit', () => gone())
    return worker
  }

  #failAll(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting = new Map()
  }
}

const stopping = () => new AppError('unavailable', 'the daemon is stopping')

function rebuild(error: { code?: string; message: string }): Error {
  return error.code ? new AppError(error.code as ErrorCode, error.message) : new Error(error.message)
}

/** The worker's side of a call: one method at a time, each answered once. */
export function serveCalls(
  port: MessagePort,
  methods: Readonly<Record<string, (...args: never[]) => unknown>>,
): void {
  port.on('message', (message: CallMessage) => {
    let reply: ReplyMessage
    try {
      const method = methods[message.method]
      if (!method) throw new Error(`no method ${message.method}`)
      reply = { id: message.id, value: method(...(message.args as never[])) }
    } catch (error) {
      const { message: text } = error as Error
      reply = {
        id: message.id,
        error: { message: text, ...(error instanceof AppError && { code: error.code }) },
      }
    }
    port.postMessage(reply)
  })
}

/** Where a worker's code is: beside this file, as source in a checkout and as a bundle in an install. */
export function workerEntry(name: string): URL {
  const isSource = import.meta.url.endsWith('.ts')
  return new URL(isSource ? `./${name}.ts` : `./${name}.mjs`, import.meta.url)
}
