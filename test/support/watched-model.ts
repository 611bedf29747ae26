import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { startScriptedModel } from './scripted-model/scripted-model.ts'

/** A request for a turn as the server saw it; without an end it is still open. */
export type WatchedRequest = { readonly path: string; endedMs?: number; isWhole?: boolean }

/** The scripted model over real HTTP, seen from its own side: which requests and connections it has. */
export async function watchedModel() {
  const model = await startScriptedModel()
  const requests: WatchedRequest[] = []
  const sockets = new Set<Socket>()
  const onRequest = (message: unknown) => {
    const { request, response, socket } = message as {
      request: IncomingMessage
      response: ServerResponse
      socket: Socket
    }
    if (socket.localPort !== model.port) return
    if (!sockets.has(socket)) socket.once('close', () => sockets.delete(socket))
    sockets.add(socket)
    if (request.method !== 'POST') return
    const watched: WatchedRequest = { path: request.url ?? '' }
    requests.push(watched)
    response.once('close', () => {
      watched.endedMs = Date.now()
      watched.isWhole = response.writableFinished
    })
  }
  subscribe(channel, onRequest)
  return {
    url: model.url,
    /** The settings with which built-in agents speak to it. */
    config: `models:
  default: lab/scripted-1
  providers:
    lab: { protocol: anthropic, base_url: "${model.url}/v1" }
`,
    /** Requests for a turn so far, oldest first. */
    requests: (): readonly WatchedRequest[] => requests,
    /** Those that wait for their answer, or are in the middle of it. */
    open: () => requests.filter(({ endedMs }) => endedMs === undefined),
    /** Connections, also those that are kept for the next request. */
    connections: () => sockets.size,
    async close() {
      unsubscribe(channel, onRequest)
      await model.close()
    },
  }
}

const channel = 'http.server.request.start'
