import { expect, test } from 'vitest'
import { settle } from '../../test/http/open-sse.ts'
import { sampleEvent, sampleRun } from '../../test/http/sample-events.ts'
import { ask, type TestApp, testApp } from '../../test/http/test-app.ts'
import type { AppError } from '../contract/errors.ts'
import { httpClient } from './client.ts'
import type { Frame } from './follow.ts'
import type { Transport } from './transport.ts'

const completed = () =>
  sampleEvent('agent.completed', { payload: { agentId: 'd' } as never, parentRunId: sampleRun(9) })
const never = () => new Promise<never>(() => {})
const atOnce = () => Promise.resolve()
const isIdleWait = (ms: number) => ms === 60_000

/** The app as a server whose connections may be cut after so many bytes. */
function transportTo(
  app: TestApp,
  cutAfter: (connection: number) => number = () => Number.POSITIVE_INFINITY,
) {
  const headers: Record<string, string>[] = []
  const transport: Transport = {
    base: '',
    sleep: (ms) => (isIdleWait(ms) ? never() : atOnce()),
    request: async (url, sent) => {
      headers.push({ ...sent.headers })
      const response = await ask(app, url, { headers: sent.headers, signal: sent.signal })
      return cut(response, cutAfter(headers.length))
    },
  }
  return { client: httpClient(transport), transport, headers }
}

function cut(response: Response, bytes: number): Response {
  let left = bytes
  const cutter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      controller.enqueue(chunk.slice(0, left))
      left -= chunk.byteLength
      if (left <= 0) controller.error(Object.assign(new Error('cut'), { code: 'ECONNRESET' }))
    },
  })
  const { status, headers } = response
  return new Response(response.body?.pipeThrough(cutter) ?? null, { status, headers })
}

async function first(count: number, frames: AsyncIterable<Frame>): Promise<string[]> {
  const seen: string[] = []
  for await (const { id, event } of frames) if (seen.push(`${id} ${event}`) >= count) break
  return seen
}

test('[MUS-100] every frame once, in order, however often the connection is cut', async () => {
  const expected = [
    '1.0 SubagentResult',
    '1.1 Outcome',
    '2.0 SubagentResult',
    '2.1 Outcome',
    '3.0 SubagentResult',
    '3.1 Outcome',
  ]
  for (let at = 1; at <= 900; at += 7) {
    const app = testApp()
    app.journal.append(completed(), completed())
    let cuts = 0
    const { client } = transportTo(app, (n) => {
      if (n === 2) app.journal.append(completed())
      return cuts++ < 3 ? at : Number.POSITIVE_INFINITY
    })
    const stop = new AbortController()
    expect(
      await first(6, client.streamRuntime({ after: '0' }, { signal: stop.signal })),
      `cut at ${at}`,
    ).toEqual(expected)
    await settle(3)
    expect(app.streams.count).toBe(0)
  }
})

test('[MUS-100] it comes back with its last id, also one that only a heartbeat told it', async () => {
  const app = testApp()
  const { client, headers } = transportTo(app)
  const stop = new AbortController()
  const seen = first(1, client.streamEvents({ type: 'agent.idle' }, { signal: stop.signal }))
  await settle()
  app.journal.append(completed())
  await settle()
  app.clock.advance(15_000)
  await settle()
  app.streams.endAll()
  await settle()
  expect(headers.map((each) => each['last-event-id'])).toEqual([undefined, '1.0'])
  app.journal.append(sampleEvent('agent.idle'))
  expect(await seen).toEqual(['2.0 agent.idle'])
})

test('[MUS-101] a resync is a frame like others, for the caller to see', async () => {
  const app = testApp()
  app.journal.append(completed(), completed(), completed())
  app.journal.prune(3)
  const { client } = transportTo(app)
  const frames = client.streamEvents({}, { signal: new AbortController().signal, lastId: '1.0' })
  expect((await frames.next()).value).toMatchObject({
    event: 'resync',
    data: { reason: 'too_old', oldest: 3 },
  })
  await frames.return()
})

test('[MUS-107] a refusal about the request ends it at once', async () => {
  const { client, headers } = transportTo(testApp())
  await expect(
    first(1, client.streamEvents({ after: 'x' }, { signal: new AbortController().signal })),
  ).rejects.toMatchObject({ code: 'invalid' })
  expect(headers).toHaveLength(1)
})

test('[MUS-100] it waits longer each time, as the server began, and gives up at a number', async () => {
  const waits: number[] = []
  const refused = () => Promise.reject(Object.assign(new Error('no'), { code: 'ECONNREFUSED' }))
  const sleep = (ms: number) => (isIdleWait(ms) ? never() : atOnce())
  const client = httpClient({ base: '', request: refused, sleep })
  const onRetry = (_: AppError, ms: number) => waits.push(ms)
  const options = { signal: new AbortController().signal, onRetry, maxFailures: 6 }
  await expect(first(1, client.streamEvents({}, options))).rejects.toMatchObject({ code: 'unavailable' })
  expect(waits).toEqual([1000, 2000, 4000, 8000, 10_000])
})

test('[MUS-100] a connection over which nothing comes counts as lost', async () => {
  const errors: string[] = []
  const silent = new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } })
  const client = httpClient({ base: '', request: async () => silent.clone(), sleep: atOnce })
  const options = {
    signal: new AbortController().signal,
    maxFailures: 2,
    onRetry: ({ code }: AppError) => errors.push(code),
  }
  await expect(first(1, client.streamEvents({}, options))).rejects.toMatchObject({ code: 'timeout' })
  expect(errors).toEqual(['timeout'])
})

test('[MUS-100] the signal ends it, whether it reads, waits or has not begun', async () => {
  const app = testApp()
  const { client } = transportTo(app)
  const stop = new AbortController()
  const reading = first(1, client.streamEvents({}, { signal: stop.signal }))
  await settle()
  stop.abort()
  expect(await reading).toEqual([])
  await settle()
  expect(app.streams.count).toBe(0)
  expect(await first(1, client.streamEvents({}, { signal: stop.signal }))).toEqual([])

  const waiting = new AbortController()
  const sleeps: AbortSignal[] = []
  const down = httpClient({
    base: '',
    request: () => Promise.reject(new TypeError('fetch failed')),
    sleep: (_, signal) =>
      new Promise((__, reject) => {
        sleeps.push(signal)
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      }),
  })
  const seen = first(1, down.streamEvents({}, { signal: waiting.signal }))
  await settle()
  waiting.abort()
  expect(await seen).toEqual([])
})

test('[MUS-100] a caller that has enough closes the connection', async () => {
  const app = testApp()
  app.journal.append(completed())
  const { client } = transportTo(app)
  await first(1, client.streamEvents({ after: '0' }, { signal: new AbortController().signal }))
  await settle()
  expect(app.streams.count).toBe(0)
})

test('[MUS-98] something else that answers there is told apart', async () => {
  const page = async () => new Response('<html>', { headers: { 'content-type': 'text/html' } })
  const client = httpClient({ base: '', request: page, sleep: (ms) => (isIdleWait(ms) ? never() : atOnce()) })
  const options = { signal: new AbortController().signal, maxFailures: 1 }
  await expect(first(1, client.streamEvents({}, options))).rejects.toThrow(/not Muster/)
})
