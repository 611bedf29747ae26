import type { ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'

export const isStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') ?? false

/**
 * Sends a stream that may go on for days. The adapter's own loop keeps something of every piece in memory until the
 * stream ends, so its pieces are passed on here.
 */
export function sendStream({ status, headers, body }: Response, outgoing: ServerResponse): Response {
  outgoing.writeHead(status, Object.fromEntries(headers))
  outgoing.flushHeaders()
  // A client that went away has told the stream so already; nothing else goes wrong between the two.
  void pass(body, outgoing).catch(() => outgoing.destroy())
  return RESPONSE_ALREADY_SENT
}

async function pass(body: Response['body'], outgoing: ServerResponse): Promise<void> {
  const reader = body?.getReader()
  outgoing.once('close', () => void reader?.cancel().catch(() => {}))
  for (;;) {
    const piece = await reader?.read()
    if (!piece || piece.done || outgoing.destroyed) break
    if (!outgoing.write(piece.value)) await drained(outgoing)
  }
  outgoing.end()
}

/** Without a race: what loses one is kept until the other side of it ends. */
const drained = (outgoing: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      outgoing.off('drain', done)
      outgoing.off('close', done)
      resolve()
    }
    outgoing.on('drain', done)
    outgoing.on('close', done)
  })
