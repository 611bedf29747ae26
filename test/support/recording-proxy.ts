import { createServer, type IncomingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that went through: when it came, and what it said. */
export type Exchange = {
  readonly atMs: number
  readonly body: string
  readonly headers: IncomingHttpHeaders
}

/** Passes everything on to a server and keeps what was asked. */
export async function recordingProxy(target: string) {
  const exchanges: Exchange[] = []
  const { hostname, port } = new URL(target)
  const server = createServer((incoming, outgoing) => {
    const atMs = performance.now()
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const body = Buffer.concat(chunks)
      const { method, url, headers } = incoming
      exchanges.push({ atMs, body: body.toString(), headers })
      const onward = request({ hostname, port, method, path: url, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      })
      onward.on('error', () => outgoing.destroy())
      onward.end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges: (): readonly Exchange[] => exchanges,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
