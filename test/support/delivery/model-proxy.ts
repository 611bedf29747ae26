import { appendFileSync } from 'node:fs'
import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Taken } from './check.ts'
import { Heard } from './heard.ts'
import { takenFrom } from './told.ts'

/** Stands before the scripted model and notes what every conversation tells of the campaign, in a file too. */
export async function modelProxy(modelUrl: string, notes: string) {
  const target = new URL(modelUrl)
  const heard = new Map<string, Heard>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      const texts = userTexts(body.toString('utf8'))
      const session = sessionOf(texts)
      if (texts.length > 0) {
        const known = heard.get(session) ?? new Heard()
        heard.set(session, known)
        const told = known.listen(takenFrom(texts))
        appendFileSync(notes, `${JSON.stringify({ at: new Date().toISOString(), session, told })}\n`)
      }
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
    /** What the conversation of a session told. */
    heard: (session: string): readonly Taken[] => heard.get(session)?.all ?? [],
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** What a session is started with: a conversation is known by its first prompt, which each request has. */
export const firstPrompt = (session: string): string => `Begin as ${session}.`

const sessionOf = (texts: readonly string[]): string =>
  texts.flatMap((text) => /\bBegin as (s\d+)\./.exec(text)?.[1] ?? [])[0] ?? 'nobody'

type Block = { readonly type?: string; readonly text?: string; readonly content?: unknown }
type Turn = { readonly role?: string; readonly content?: unknown; readonly parts?: unknown }

/** What people and hooks said in a request of any protocol. */
function userTexts(body: string): string[] {
  try {
    const request = JSON.parse(body) as Partial<
      Record<'messages' | 'input' | 'contents' | 'tools', unknown[]>
    >
    // Without tools it is a title or a summary that the CLI asks for.
    if ((request.tools ?? []).length === 0) return []
    const turns = (request.messages ?? request.input ?? request.contents ?? []) as Turn[]
    return turns
      .filter(({ role }) => role === 'user' || (request.messages !== undefined && role === 'system'))
      .flatMap(({ content, parts }) => textsIn(content ?? parts))
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
