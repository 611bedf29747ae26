import { setImmediate as turn } from 'node:timers/promises'
import { queryObjects } from 'node:v8'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/adapters/system/clock.ts'
import type { HttpApp } from '../../src/http/app.ts'
import { listen } from '../../src/http/listen.ts'

const pieces = 3000

/** Sends its pieces one by one, and then stays open. */
function longStream(): Response {
  let sent = 0
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (sent === pieces) return new Promise(() => {})
      sent += 1
      await turn()
      controller.enqueue(new TextEncoder().encode('.'))
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } })
}

const promises = () => queryObjects(Promise, { format: 'count' })

test('a stream that goes on keeps nothing of the pieces that were sent', async () => {
  const app = { fetch: async () => longStream(), streams: { endAll: () => {} } } as unknown as HttpApp
  const server = await listen(app, { host: '127.0.0.1', port: 0, clock: systemClock, onBug: () => {} })
  const away = new AbortController()
  onTestFinished(async () => {
    away.abort()
    await server.close(1000)
  })
  const { body } = await fetch(server.url, { signal: away.signal })
  const reader = body?.getReader()
  const before = promises()
  for (let got = 0; got < pieces; ) got += (await reader?.read())?.value?.length ?? 0
  expect(promises() - before).toBeLessThan(pieces / 10)
})
