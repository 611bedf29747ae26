import type * as z from 'zod'
import { AppError } from '../contract/errors.ts'
import { wireVersions } from '../contract/health.ts'
import type { Route } from '../contract/route.ts'
import {
  type JsonRouteName,
  type RouteInput,
  type RouteName,
  type RouteOutput,
  routeEntries,
  type SseRouteName,
} from '../contract/routes.ts'
import { connectionFailure, jsonOf, notMuster, refusalOf, slowDaemon } from './failure.ts'
import { type FollowOptions, type Frame, follow } from './follow.ts'
import { type Answer, headersOf, type Transport } from './transport.ts'

/** What a call may say besides its input. */
export type CallOptions = { readonly signal?: AbortSignal; readonly timeoutMs?: number }

/** The whole API as functions. */
export type Client = {
  readonly [N in JsonRouteName]: (input: RouteInput<N>, options?: CallOptions) => Promise<RouteOutput<N>>
} & {
  readonly [N in SseRouteName]: (
    input: RouteInput<N>,
    options: FollowOptions,
  ) => AsyncGenerator<Frame, void, void>
}

const usualTimeoutMs = 30_000

/** Makes the client from the routes table; nothing is generated. */
export function httpClient(transport: Transport): Client {
  const entries = routeEntries.map(([name, route]): [RouteName, unknown] => [
    name,
    route.answers === 'sse'
      ? (input: Fields, options: FollowOptions) =>
          follow(transport, urlOf(route, input, transport.base), options)
      : (input: Fields, options: CallOptions = {}) => call({ route, transport }, input, options),
  ])
  return Object.fromEntries(entries) as Client
}

type Fields = Readonly<Record<string, unknown>>
type Callee = { readonly route: Route; readonly transport: Transport }

async function call({ route, transport }: Callee, input: Fields, options: CallOptions): Promise<unknown> {
  const { timeoutMs = usualTimeoutMs, signal } = options
  signal?.throwIfAborted()
  const stop = new AbortController()
  const onAbort = () => stop.abort(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  const late = transport.sleep(timeoutMs, stop.signal).then(() => {
    throw slowDaemon(timeoutMs)
  })
  try {
    return await Promise.race([exchange({ route, transport }, input, stop.signal), late])
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  } finally {
    signal?.removeEventListener('abort', onAbort)
    // Ends what lost the race; its rejection is already handled by the race.
    stop.abort()
  }
}

async function exchange({ route, transport }: Callee, input: Fields, signal: AbortSignal): Promise<unknown> {
  const isPost = route.method === 'post'
  const headers = headersOf(transport, wireVersions.current)
  const sent = {
    method: route.method.toUpperCase(),
    headers: isPost ? { ...headers, 'content-type': 'application/json' } : headers,
    ...(isPost && { body: JSON.stringify(withoutPath(route, input)) }),
    signal,
  }
  let response: Answer
  let body: unknown
  try {
    response = await transport.request(urlOf(route, input, transport.base), sent)
    if (!response.ok) throw await refusalOf(response)
    body = await jsonOf(response)
  } catch (error) {
    if (error instanceof AppError || signal.aborted) throw error
    throw connectionFailure(error, isPost)
  }
  return tolerant(route.output, body, response.status)
}

// A newer daemon may answer fields that this client does not know; they are no reason to fail.
function tolerant(schema: z.ZodType, body: unknown, status: number): unknown {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  if (body === undefined) throw notMuster(status)
  if (parsed.error.issues.every(({ code }) => code === 'unrecognized_keys')) return body
  throw new AppError(
    'failed',
    'the daemon answers in a form that this sm does not know; run `sm up --replace`',
    {
      details: parsed.error.issues.map(({ path, message }) => ({
        path: path.map(String).join('.'),
        message,
      })),
    },
  )
}

function urlOf(route: Route, input: Fields, base: string): string {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(input[name])),
  )
  if (route.method === 'post') return base + path
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(withoutPath(route, input)))
    if (value !== undefined) query.set(name, String(value as string | number | boolean))
  const search = query.toString()
  return base + path + (search === '' ? '' : `?${search}`)
}

function withoutPath(route: Route, input: Fields): Fields {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !route.path.includes(`{${name}}`)))
}
