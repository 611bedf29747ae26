import { AppError } from '../contract/errors.ts'
import { places, type RoutePlace } from '../contract/route-places.ts'
import type { JsonRouteName, RouteInput, RouteOutput, SseRouteName } from '../contract/routes.ts'
import { wireVersions } from '../contract/version.ts'
import { type FollowOptions, type Frame, follow } from './follow.ts'
import {
  type Answer,
  connectionFailure,
  headersOf,
  jsonOf,
  notMuster,
  refusalOf,
  slowDaemon,
  type Transport,
} from './transport.ts'

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
  const entries = Object.entries<RoutePlace>(places).map(([name, route]): [string, unknown] => [
    name,
    route.answers === 'sse'
      ? (input: Fields, options: FollowOptions) =>
          follow(transport, urlOf(route, input, transport.base), options)
      : (input: Fields, options: CallOptions = {}) => call({ route, transport }, input, options),
  ])
  return Object.fromEntries(entries) as Client
}

type Fields = Readonly<Record<string, unknown>>
type Callee = { readonly route: RoutePlace; readonly transport: Transport }

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
  if (body === undefined) throw notMuster(response.status)
  // Where the wire version is agreed on, the form of the answer is too: the daemon has checked it.
  if (Number(response.headers.get('muster-wire') ?? wireVersions.current) < wireVersions.oldest)
    throw new AppError('failed', 'the daemon is older than this sm; run `sm up --replace`')
  return body
}

function urlOf(route: RoutePlace, input: Fields, base: string): string {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segmentOf(String(input[name])))
  if (route.method === 'post') return base + path
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(withoutPath(route, input)))
    if (value !== undefined) query.set(name, String(value as string | number | boolean))
  const search = query.toString()
  const address = base + path + (search === '' ? '' : `?${search}`)
  // The server would refuse it before it knows that it is Muster, and say nothing of what is too long.
  if (address.length > longestAddress)
    throw new AppError(
      'invalid',
      `that is too long: ids, names and searches have up to ${longestWord} characters`,
    )
  return address
}

const longestWord = 4000
/** Node's server takes 16 KB of headers, and the address is one of them. */
const longestAddress = 14_000

/** What a path cannot hold would ask for something else: nothing and dots are taken out of an address. */
function segmentOf(value: string): string {
  if (/^\.{0,2}$/.test(value)) throw new AppError('invalid', `'${value}' names nothing; give an id or a name`)
  if (value.length > longestWord)
    throw new AppError('invalid', `'${value.slice(0, 40)}…' is too long to be an id or a name`)
  // A letter that was cut in half would be a bug of ours below.
  if (!value.isWellFormed())
    throw new AppError('invalid', 'a letter of that id or name is broken; type it again')
  return encodeURIComponent(value)
}

function withoutPath(route: RoutePlace, input: Fields): Fields {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !route.path.includes(`{${name}}`)))
}
