import { type Block, SseParser } from '../../src/client/sse-parser.ts'
import { type AskInit, ask, type TestApp } from './test-app.ts'

/** A client of a stream inside the process. */
export type SseReader = {
  readonly response: Response
  /** The next blocks, one chunk of the stream at a time, until there are so many. */
  blocks(count: number): Promise<Block[]>
  /** The next chunk as text; undefined when the stream has ended. */
  chunk(): Promise<string | undefined>
  leave(): Promise<void>
}

export async function openSse(app: TestApp, path: string, init: AskInit = {}): Promise<SseReader> {
  const response = await ask(app, path, init)
  if (response.status !== 200 || !response.body)
    throw new Error(`${response.status} ${await response.text()}`)
  const reader = response.body.getReader()
  const parser = new SseParser({ lastId: init.headers?.['last-event-id'] ?? '' })
  const decoder = new TextDecoder()
  const ready: Block[] = []
  return {
    response,
    async blocks(count) {
      while (ready.length < count) {
        const { done, value } = await reader.read()
        if (done) break
        ready.push(...parser.push(value))
      }
      return ready.splice(0, count)
    },
    async chunk() {
      const { done, value } = await reader.read()
      return done ? undefined : decoder.decode(value, { stream: true })
    },
    leave: () => reader.cancel(),
  }
}

/** Lets everything that is ready run, without waiting for time. */
export const settle = async (rounds = 20): Promise<void> => {
  for (let i = 0; i < rounds; i++) await new Promise((resolve) => setImmediate(resolve))
}
