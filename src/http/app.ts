import { Hono } from 'hono'
import { AppError } from '../contract/errors.ts'
import type { SessionId } from '../contract/ids.ts'
import type { Principal } from '../contract/principal.ts'
import type { Route } from '../contract/route.ts'
import { type Api, type RouteName, routeEntries, type SseRouteName } from '../contract/routes.ts'
import { Turns } from '../contract/turns.ts'
import { openapi } from './openapi.ts'
import { forgetCookie, login, type Page, type Redeem } from './page.ts'
import { problemOf } from './problem.ts'
import { isLarge, readInput, readJson } from './read-input.ts'
import {
  type Address,
  type Authenticate,
  guardAccess,
  guardAddress,
  guardFetchSite,
  guardForgery,
  guardWire,
  type HttpContext,
  type HttpEnv,
  identify,
  securityHeaders,
  wireHeader,
} from './request-guards.ts'
import { type StreamDeps, Streams } from './streams.ts'

/** Everything the server is given; it makes nothing itself. */
export type HttpDeps = StreamDeps & {
  readonly api: Api
  readonly address: Address
  readonly authenticate: Authenticate
  readonly redeem: Redeem
  readonly page: Page
  readonly maxBodyBytes: number
}

/** The server without its sockets. */
export type HttpApp = {
  readonly fetch: Hono<HttpEnv>['fetch']
  readonly request: Hono<HttpEnv>['request']
  readonly streams: Streams
  readonly topOf: HttpDeps['topOf']
}

/** Serves every route of the contract, the page and the login link. */
export function httpApp(deps: HttpDeps): HttpApp {
  const app = new Hono<HttpEnv>()
  const streams = new Streams(deps)
  const calls = new Calls()
  const bodies = new Turns<SessionId>()

  app.use('*', securityHeaders)
  app.use('*', async (c, next) => {
    const via = c.env?.via ?? 'tcp'
    guardAddress({ via, host: c.req.header('host'), origin: c.req.header('origin') }, deps.address)
    await next()
  })
  app.use('/api/*', async (c, next) => {
    guardFetchSite(c.req.header('sec-fetch-site'))
    const { principal, isByCookie } = callerOf(c, deps)
    if (principal.kind !== 'anonymous') c.env?.proved?.(principal)
    c.set('principal', principal)
    c.set('isByCookie', isByCookie)
    await next()
  })

  for (const [path, byMethod] of routesByPath())
    app.all(path.replaceAll(/\{(\w+)\}/g, ':$1'), async (c, next) => {
      const entry = byMethod.get(c.req.method === 'HEAD' ? 'GET' : c.req.method)
      if (entry) return serveRoute(c, entry, { deps, streams, calls, bodies })
      // Another route may fit as well: a workflow may be called as the last word of this path.
      c.set('otherMethods', [...(c.var.otherMethods ?? []), ...byMethod.keys()])
      return next()
    })
  app.all('/login', login(deps.redeem))
  for (const [path, file] of deps.page)
    app.all(path, (c) => {
      if (c.req.method !== 'GET' && c.req.method !== 'HEAD') return otherMethod(c, ['GET'])
      return c.body(file.text, 200, { 'content-type': file.type, 'cache-control': 'no-cache' })
    })

  app.notFound((c) => {
    if (c.var.otherMethods) return otherMethod(c, c.var.otherMethods)
    const refusal = new AppError(
      'not_found',
      `there is no ${c.req.path}; /api/v1/openapi.json lists all routes`,
    )
    return answer(c, refusal, deps)
  })
  app.onError((error, c) => {
    // The client left; whatever the handler made of that is nobody's bug.
    if (c.req.raw.signal.aborted && !(error instanceof AppError)) return new Response(null, { status: 499 })
    return answer(c, error, deps)
  })
  return { fetch: app.fetch, request: app.request, streams, topOf: deps.topOf }
}

function answer(c: HttpContext, error: unknown, { onBug }: HttpDeps): Response {
  const { status, body } = problemOf(error, `${c.req.method} ${c.req.path}`, onBug)
  return c.json(body, status)
}

/** So many calls of one session may be under way; what it asks a person and waits for is one. */
const mostCalls = 100

/** The calls of sessions that are under way: one that floods us takes nothing from the others. */
class Calls {
  readonly #open = new Map<SessionId, number>()

  begin(principal: Principal): Disposable {
    if (principal.kind !== 'session') return { [Symbol.dispose]() {} }
    const { sessionId } = principal
    const open = (this.#open.get(sessionId) ?? 0) + 1
    if (open > mostCalls)
      throw new AppError('limited', `${mostCalls} calls of this session are under way; wait for one to end`)
    this.#open.set(sessionId, open)
    return {
      [Symbol.dispose]: () => {
        const left = (this.#open.get(sessionId) ?? 1) - 1
        if (left === 0) this.#open.delete(sessionId)
        else this.#open.set(sessionId, left)
      },
    }
  }
}

let described: ReturnType<typeof openapi> | undefined
const description = () => {
  described ??= openapi()
  return described
}

type Entry = { readonly name: RouteName; readonly route: Route }
type Server = {
  readonly deps: HttpDeps
  readonly streams: Streams
  readonly calls: Calls
  readonly bodies: Turns<SessionId>
}

function routesByPath(): Map<string, Map<string, Entry>> {
  const paths = new Map<string, Map<string, Entry>>()
  for (const [name, route] of routeEntries) {
    const byMethod = paths.get(route.path) ?? new Map<string, Entry>()
    paths.set(route.path, byMethod.set(route.method.toUpperCase(), { name, route }))
  }
  return paths
}

async function serveRoute(
  c: HttpContext,
  { name, route }: Entry,
  { deps, streams, calls, bodies }: Server,
): Promise<Response> {
  const { principal, isByCookie } = c.var
  using _call = calls.begin(principal)
  guardForgery(isByCookie, c.req.method, c.req.header('origin'))
  guardAccess(route.access, principal)
  guardWire(c.req.header(wireHeader))
  const maxBytes = route.maxBodyBytes ?? deps.maxBodyBytes
  const input = readInput(route, {
    params: c.req.param(),
    queries: c.req.queries(),
    body: route.method === 'post' ? await bodyOf(c, maxBytes, { deps, bodies }) : undefined,
  })
  if (route.answers === 'sse') return answerStream(c, { name: name as SseRouteName, input, streams })
  if (name === 'openapi') return c.json(description())
  const handle = deps.api[name as keyof Api] as (input: unknown, context: unknown) => Promise<unknown>
  const output = await handle(input, { principal, signal: c.req.raw.signal })
  // Strict on the way out too: an answer that breaks the contract is a bug here, not a riddle for the caller.
  return c.json(route.output.parse(output) as object)
}

/** An agent whose body is refused unread hears of it so much later. */
const refusedBodyMs = 250

/**
 * The body of a request. Of one session a single large body is read at a time, and what is too large is refused late and
 * one after the other: whoever floods us waits for itself, and the others are answered at once.
 */
async function bodyOf(
  c: HttpContext,
  maxBytes: number,
  { deps, bodies }: Pick<Server, 'deps' | 'bodies'>,
): Promise<unknown> {
  const { principal } = c.var
  const read = () => readJson(c.req.raw, maxBytes)
  if (principal.kind !== 'session') return read()
  const refuseLate = async (error: unknown): Promise<never> => {
    if (error instanceof AppError && error.code === 'too_large')
      await deps.clock.sleep(refusedBodyMs, c.req.raw.signal)
    throw error
  }
  const inTurn = <T>(act: () => Promise<T>) => bodies.take(principal.sessionId, act)
  if (isLarge(c.req.raw)) return inTurn(() => read().catch(refuseLate))
  return read().catch((error: unknown) => inTurn(() => refuseLate(error)))
}

function answerStream(
  c: HttpContext,
  { name, input, streams }: { name: SseRouteName; input: Record<string, unknown>; streams: Streams },
): Response {
  const lastEventId = c.req.header('last-event-id')
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' }
  // Nobody would ever read or cancel the body of a HEAD.
  if (c.req.method === 'HEAD') {
    streams.check({ input, lastEventId })
    return c.body(null, 200, headers)
  }
  const body = streams.open(name, {
    input,
    principal: c.var.principal,
    lastEventId,
    signal: c.req.raw.signal,
    cut: () => c.env?.outgoing?.destroy(),
  })
  return c.body(body, 200, headers)
}

function callerOf(c: HttpContext, { authenticate }: HttpDeps) {
  const credentials = { authorization: c.req.header('authorization'), cookie: c.req.header('cookie') }
  try {
    return identify(credentials, authenticate)
  } catch (error) {
    if (error instanceof AppError && credentials.authorization === undefined)
      c.header('set-cookie', forgetCookie)
    throw error
  }
}

function otherMethod(c: HttpContext, methods: readonly string[]): Response {
  const allow = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ')
  c.header('allow', `${allow}, OPTIONS`)
  if (c.req.method === 'OPTIONS') return c.body(null, 204)
  throw new AppError('method_not_allowed', `${c.req.path} takes ${allow}, not ${c.req.method}`)
}
