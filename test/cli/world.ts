import { setImmediate as turn } from 'node:timers/promises'
import type { Io } from '../../src/cli/io.ts'
import type { Client } from '../../src/client/client.ts'
import type { Offline } from '../../src/contract/offline.ts'
import { temporaryFolder } from './run-sm.ts'

/** What the world of a command answers, and how it is. */
export type Answers = {
  client?: Partial<Client>
  offline?: Partial<Offline>
  env?: Record<string, string>
  state?: 'down' | 'slow'
  isJson?: boolean
  isTerminal?: boolean
  /** What a person says when asked; nobody is there without it. */
  confirms?: boolean
  signal?: AbortSignal
}

/** The world of a command with a daemon that answers as the test says; nothing is sent anywhere, and time passes only in sleep. */
export function world(answers: Answers): { io: Io; said: string[]; slept: number[] } {
  const { client = {}, offline = {}, env = {}, state, isJson = false, isTerminal = false } = answers
  const said: string[] = []
  const slept: number[] = []
  const signal = answers.signal ?? new AbortController().signal
  const clock = new Clock()
  const answering = client as Client
  const unused = () => Promise.reject(new Error('not part of this test'))
  const io: Io = {
    env,
    cwd: temporaryFolder(),
    program: { node: '', entry: '', daemonArgs: [] },
    signal,
    isTerminal,
    canAsk: answers.confirms !== undefined,
    confirm: async (question) => {
      said.push(question)
      return answers.confirms === true
    },
    isJson,
    isColored: false,
    width: () => 80,
    say: (message) => said.push(message),
    progress: () => {},
    now: () => clock.now,
    sleep: (ms, until = signal) => {
      slept.push(ms)
      return clock.sleep(ms, until)
    },
    daemon: async () => ({
      home: '',
      probe: async () => (state === undefined ? { state: 'running', health: {} as never } : { state }),
      running: async () => (state === 'down' ? undefined : answering),
      client: async () => answering,
      start: unused,
      stop: unused,
    }),
    offline: async () => offline as Offline,
  }
  return { io, said, slept }
}

type Sleeper = { readonly due: number; readonly wake: () => void }

/** Time that jumps to the next sleeper as soon as nobody else has anything to do. */
class Clock {
  now = Date.parse('2026-01-27T15:30:00.000Z')
  #sleepers: Sleeper[] = []
  #isRunning = false

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper)
        reject(signal.reason as Error)
      }
      const wake = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const sleeper = { due: this.now + ms, wake }
      if (signal.aborted) return leave()
      signal.addEventListener('abort', leave)
      this.#sleepers.push(sleeper)
      void this.#run()
    })
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    while (this.#sleepers.length > 0) {
      for (let i = 0; i < 5; i++) await turn()
      const next = this.#sleepers.toSorted((a, b) => a.due - b.due)[0]
      this.#sleepers = this.#sleepers.filter((other) => other !== next)
      if (next !== undefined) this.now = Math.max(this.now, next.due)
      next?.wake()
    }
    this.#isRunning = false
  }
}

/** All that a command answers, as a list. */
export async function collect<T>(from: AsyncIterable<T> | Promise<T>): Promise<T[]> {
  return Symbol.asyncIterator in from ? Array.fromAsync(from) : [await from]
}
