import { request } from 'node:http'
import { Readable } from 'node:stream'

/** Where the daemon listens: on its socket, or on loopback when the socket's path would be too long. */
export type Address = { readonly socketPath: string } | { readonly port: number }

/** What a client sends; the part of the web's fetch that ours understands. */
type Sent = {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal?: AbortSignal
}

/** A fetch to the daemon alone: the built-in one cannot open a unix socket. */
export function localFetch(address: Address): (url: string, sent?: Sent) => Promise<Response> {
  const target = 'port' in address ? { host: '127.0.0.1', port: address.port } : address
  return (url, { method = 'GET', headers = {}, body, signal } = {}) =>
    new Promise((resolve, reject) => {
      const { pathname, search } = new URL(url)
      const call = request({ ...target, method, headers, path: `${pathname}${search}`, agent: false, signal }, (answer) => {
        const status = answer.statusCode ?? 500
        const isEmpty = status === 204 || status === 304
        const names = Object.entries(answer.headers).flatMap(([name, value]) =>
          [value ?? []].flat().map((one): [string, string] => [name, one]),
        )
        resolve(
          new Response(isEmpty ? null : (Readable.toWeb(answer) as ReadableStream), { status, headers: new Headers(names) }),
        )
      })
      call.on('error', reject)
      call.end(body)
    })
}
