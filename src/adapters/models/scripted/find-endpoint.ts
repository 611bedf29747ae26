import type { Protocol } from './protocol.ts'

/** What a request asks for. */
export type Endpoint =
  | {
      readonly kind: 'answer'
      readonly protocol: Protocol
      readonly model?: string
      readonly stream?: Stream
    }
  | { readonly kind: 'count' | 'models'; readonly protocol: Protocol; readonly model?: string }
  | { readonly kind: 'hello' | 'unknown' }
  | { readonly kind: 'requests' }

/** How the path of a Gemini request says that it wants a stream; the other protocols say it in the body. */
export type Stream = 'none' | 'events' | 'array'

/** Finds it by the end of the path: clients put different things before it. */
export function findEndpoint(method: string, url: URL): Endpoint {
  const path = url.pathname
  if (method === 'POST') return posted(path, url.searchParams) ?? { kind: 'unknown' }
  if (method === 'HEAD') return { kind: 'hello' }
  if (method !== 'GET') return { kind: 'unknown' }
  if (path === '/__requests') return { kind: 'requests' }
  if (path === '/' || path.endsWith('/hello')) return { kind: 'hello' }
  const models = /\/models(?:\/([^/]+))?$/.exec(path)
  if (models === null) return { kind: 'unknown' }
  const protocol = path.startsWith('/v1beta/') ? 'gemini' : 'chat'
  return {
    kind: 'models',
    protocol,
    ...(models[1] !== undefined && { model: models[1] }),
  }
}

function posted(path: string, query: URLSearchParams): Endpoint | undefined {
  if (path.endsWith('/messages/count_tokens')) return { kind: 'count', protocol: 'anthropic' }
  if (path.endsWith('/messages')) return { kind: 'answer', protocol: 'anthropic' }
  if (path.endsWith('/responses')) return { kind: 'answer', protocol: 'responses' }
  if (path.endsWith('/chat/completions')) return { kind: 'answer', protocol: 'chat' }
  const [, model, verb] = /\/models\/([^/:]+):(\w+)$/.exec(path) ?? []
  const of = { protocol: 'gemini', ...(model !== undefined && { model }) } as const
  if (verb === 'countTokens') return { kind: 'count', ...of }
  if (verb === 'generateContent') return { kind: 'answer', ...of, stream: 'none' }
  if (verb === 'streamGenerateContent')
    return { kind: 'answer', ...of, stream: query.get('alt') === 'sse' ? 'events' : 'array' }
  return undefined
}
