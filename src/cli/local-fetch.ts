import { request } from 'node:http'
import { Readable } from 'node:stream'
import type { Request } from '../client/transport.ts'

/** Where the daemon listens: on its socket, or on loopback when the socket's path would be too long. */
export type Address = { readonly socketPath: string } | { readonly port: number }

/** A fetch to the daemon alone: the built-in one cannot open a unix socket. */
export function localFetch(address: Address): Request {
  const target = 'port' in address ? { host: '127.0.0.1', port: address.port } : address
  return (url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const { pathname, search } = new URL(url)
      const options = { ...target, method, headers, signal, path: `${pathname}${search}`, agent: false }
      const call = request(options, (answer) => {
        const named = Object.entries(answer.headers).flatMap(([name, value]) =>
          [value ?? []].flat().map((one): [string, string] => [name, one]),
        )
        const stream = Readable.toWeb(answer) as ReadableStream
        resolve(new Response(stream, { status: answer.statusCode ?? 500, headers: named }))
      })
      call.on('error', reject)
      call.end(body)
    })
}
