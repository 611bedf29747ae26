import { setImmediate as turn } from 'node:timers/promises'
import { queryObjects } from 'node:v8'
import { systemClock } from '../../src/adapters/system/clock.ts'
import type { HttpApp } from '../../src/http/app.ts'
import { listen } from '../../src/http/listen.ts'

// Run by a test, in a process that holds nothing else: prints how many promises a stream has kept after its pieces.
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

const app = { fetch: async () => longStream(), streams: { endAll: () => {} } } as unknown as HttpApp
const server = await listen(app, { host: '127.0.0.1', port: 0, clock: systemClock, onBug: () => {} })
const { body } = await fetch(server.url)
const reader = body?.getReader()
const before = promises()
let got = 0
while (got < pieces) {
  const piece = await reader?.read()
  if (!piece?.value) throw new Error(`the stream ended after ${got} pieces`)
  got += piece.value.length
}
process.stdout.write(`${JSON.stringify({ pieces, kept: promises() - before })}\n`)
process.exit(0)
