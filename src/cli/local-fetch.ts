import type { IncomingMessage } from 'node:http'
import type { Answer, Request } from '../client/transport.ts'

// An import of node:http reads all its exports, and one of them loads the whole of fetch: 15 ms for nothing.
const { request } = process.getBuiltinModule('node:http')
const { connect } = process.getBuiltinModule('node:net')

/** Where the daemon listens: on its socket, or on loopback when the socket's path would be too long. */
export type Address = { readonly socketPath: string } | { readonly port: number }

/** A fetch to the daemon alone: the built-in one cannot open a unix socket, and loading it costs as much as `sm` itself. */
export function localFetch(address: Address): Request {
  // The host is named in the request too: the daemon checks it.
  const named = 'port' in address ? { host: '127.0.0.1', port: address.port } : {}
  const target = 'port' in address ? { host: '127.0.0.1', port: address.port } : { path: address.socketPath }
  return (url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const { pathname, search } = new URL(url)
      const path = `${pathname}${search}`
      // A connection of its own needs no pool, and the pool's set-up takes as long as the whole exchange.
      const createConnection = () => connect(target)
      const call = request({ ...named, method, headers, signal, path, createConnection }, (message) =>
        resolve(answerOf(message)),
      )
      call.on('error', reject)
      call.end(body)
    })
}

function answerOf(message: IncomingMessage): Answer {
  const status = message.statusCode ?? 500
  return {
    ok: status >= 200 && status < 300,
    status,
    headers: { get: (name) => [message.headers[name.toLowerCase()] ?? []].flat()[0] ?? null },
    body: message as AsyncIterable<Buffer>,
    text: async () => {
      const pieces: Buffer[] = []
      for await (const piece of message) pieces.push(piece as Buffer)
      return Buffer.concat(pieces).toString('utf8')
    },
  }
}
