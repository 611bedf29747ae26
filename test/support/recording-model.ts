import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startScriptedModel } from './scripted-model/scripted-model.ts'

/** The scripted model behind a door at which every request is written down as it came, and may have to wait. */
export async function recordingModel() {
  const model = await startScriptedModel()
  const asked: string[] = []
  const held = new Set<string>()
  const server = createServer((incoming, response) => {
    void pass({ incoming, response, asked, held }, model.port).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The bodies of the requests for a turn, oldest first. */
    asked,
    /** Requests with one of these words in their address or body wait until it is taken out. */
    held,
    requests: () => model.requests(),
    async close() {
      server.closeAllConnections()
      server.close()
      await model.close()
    },
  }
}

type Passing = {
  readonly incoming: IncomingMessage
  readonly response: ServerResponse
  readonly asked: string[]
  readonly held: ReadonlySet<string>
}

async function pass({ incoming, response, asked, held }: Passing, port: number): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  if (incoming.url?.endsWith('/messages')) asked.push(body.toString('utf8'))
  const { method, url, headers } = incoming
  const isHeld = () => [...held].some((word) => url?.includes(word) || body.includes(word))
  while (isHeld() && !response.closed) await sleep(20)
  if (response.closed) return
  const onward = request({ port, method, path: url, headers: { ...headers, host: `127.0.0.1:${port}` } })
  onward.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers)
    answer.pipe(response)
  })
  onward.on('error', () => response.destroy())
  response.once('close', () => onward.destroy())
  onward.end(body)
}
