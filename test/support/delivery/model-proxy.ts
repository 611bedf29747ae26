import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What one conversation told the model, in order and each occurrence once. */
export type Heard = { readonly texts: string[]; readonly counts: Map<string, number> }

/** Stands before the scripted model and notes the user's texts of every conversation. */
export async function modelProxy(modelUrl: string) {
  const target = new URL(modelUrl)
  const heard = new Map<string, Heard>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      const session = request.headers['x-claude-code-session-id']
      if (typeof session === 'string') listen(heard, session, body.toString('utf8'))
      const onward = forward(
        {
          host: target.hostname,
          port: target.port,
          method: request.method,
          path: request.url,
          headers: { ...request.headers, host: target.host },
        },
        (answer) => {
          response.writeHead(answer.statusCode ?? 500, answer.headers)
          answer.pipe(response)
        },
      )
      response.once('close', () => onward.destroy())
      onward.once('error', () => response.destroy())
      onward.end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard: (session: string): readonly string[] => heard.get(session)?.texts ?? [],
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** A conversation is sent again and again; what is new in it is what it has more of than before. */
function listen(heard: Map<string, Heard>, session: string, body: string): void {
  const texts = userTexts(body)
  const known = heard.get(session) ?? { texts: [], counts: new Map<string, number>() }
  heard.set(session, known)
  const counts = new Map<string, number>()
  for (const text of texts) {
    const count = (counts.get(text) ?? 0) + 1
    counts.set(text, count)
    if (count <= (known.counts.get(text) ?? 0)) continue
    known.counts.set(text, count)
    known.texts.push(text)
  }
}

type Block = { readonly type?: string; readonly text?: string; readonly content?: unknown }

function userTexts(body: string): string[] {
  try {
    const { messages = [], tools = [] } = JSON.parse(body) as {
      messages?: { role: string; content: string | Block[] }[]
      tools?: unknown[]
    }
    // Without tools it is a title or a summary that the CLI asks for.
    if (tools.length === 0) return []
    return messages.filter(({ role }) => role !== 'assistant').flatMap(({ content }) => textsIn(content))
  } catch {
    // No JSON: it is not a conversation.
    return []
  }
}

function textsIn(content: unknown): string[] {
  if (typeof content === 'string') return [content]
  if (!Array.isArray(content)) return []
  return (content as Block[]).flatMap((block) =>
    typeof block.text === 'string' ? [block.text] : textsIn(block.content),
  )
}
