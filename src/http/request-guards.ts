import type { HttpBindings } from '@hono/node-server'
import type { Context, MiddlewareHandler } from 'hono'
import { AppError } from '../contract/errors.ts'
import type { Principal } from '../contract/principal.ts'
import type { Access } from '../contract/route.ts'
import { wireVersions } from '../contract/version.ts'

/** The cookie a login link leaves in a browser. */
export const sessionCookie = 'muster_session'

/** How tokens are proved; comparing them is the daemon's. */
export type Authenticate = (token: string) => Principal | undefined

/** Who is asking, and whether only a cookie says so. */
type Caller = { readonly principal: Principal; readonly isByCookie: boolean }

/** The headers that can carry a token. */
type Credentials = { readonly authorization: string | undefined; readonly cookie: string | undefined }

const longestToken = 512

/** Finds out who is asking; a token that is not known is refused, never taken for no token. */
export function identify({ authorization, cookie }: Credentials, authenticate: Authenticate): Caller {
  if (authorization !== undefined) {
    const token = /^Bearer +([^\s]+) *$/i.exec(authorization)?.[1]
    if (token === undefined)
      throw new AppError('unauthenticated', 'send the token as "Authorization: Bearer …"')
    return { principal: prove(token, authenticate), isByCookie: false }
  }
  const token = cookieValue(cookie)
  if (token === undefined) return { principal: { kind: 'anonymous' }, isByCookie: false }
  return { principal: prove(token, authenticate), isByCookie: true }
}

/** Refuses a caller that may not do this. */
export function guardAccess(access: Access, principal: Principal): void {
  if (principal.kind === 'operator' || access === 'open') return
  if (principal.kind === 'anonymous')
    throw new AppError('unauthenticated', 'this needs a token; use sm, or run `sm open` for the page')
  if (access === 'operate')
    throw new AppError('denied', "this is a person's to do; a session acts and reads for itself and below")
}

/** Refuses an act that only a cookie stands for when the browser does not say that our own page sent it. */
export function guardForgery(isByCookie: boolean, method: string, origin: string | undefined): void {
  const isAct = method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
  if (isByCookie && isAct && origin === undefined)
    throw new AppError('denied', 'acting with a cookie needs an Origin header; use the page, or a token')
}

function prove(token: string, authenticate: Authenticate): Principal {
  const principal = token.length <= longestToken ? authenticate(token) : undefined
  if (!principal)
    throw new AppError(
      'unauthenticated',
      'the token is not known here; run `sm open` again, or check MUSTER_HOME',
    )
  return principal
}

function cookieValue(header: string | undefined): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === sessionCookie) return pair.slice(at + 1).trim()
  }
  return undefined
}

/** Where the daemon answers: its port, and hosts beyond loopback that were configured by name. */
export type Address = { readonly port: () => number; readonly hosts?: readonly string[] }

/** The parts of a request that say where it was sent and from where. */
type Direction = {
  readonly via: 'tcp' | 'unix'
  readonly host: string | undefined
  readonly origin: string | undefined
}

/** Refuses what a hostile page can send: another name for this machine (DNS rebinding), another origin. */
export function guardAddress({ via, host, origin }: Direction, address: Address): void {
  const own = ownHosts(address)
  const named = host?.toLowerCase()
  if (via === 'tcp' && (named === undefined || !own.has(named)))
    throw new AppError('misdirected', `this is not ${host ?? 'a server without a name'}; use ${first(own)}`)
  if (origin === undefined) return
  const from = /^https?:\/\/(.+)$/.exec(origin.toLowerCase())?.[1]
  const isOwn = from !== undefined && own.has(from) && (via === 'unix' || from === named)
  if (!isOwn)
    throw new AppError('denied', `requests from ${origin} are refused; open the page of this daemon`)
}

/** Refuses what a page of another site loads without saying its origin, like an image that is a stream. */
export function guardFetchSite(site: string | undefined): void {
  if (site === undefined || site === 'same-origin' || site === 'none') return
  throw new AppError('denied', 'requests from the pages of other sites are refused')
}

/** Loopback names with our port, then what was configured. */
function ownHosts({ port, hosts = [] }: Address): Set<string> {
  const number = port()
  const loopback = ['127.0.0.1', 'localhost', '[::1]']
  const own = loopback.map((name) => `${name}:${number}`)
  if (number === 80) own.push(...loopback)
  return new Set([...own, ...hosts.map((host) => host.toLowerCase())])
}

const first = (hosts: ReadonlySet<string>): string => hosts.values().next().value ?? ''

/** The header that carries the wire version, on requests and answers alike. */
export const wireHeader = 'muster-wire'

/** Refuses a caller whose version is not spoken here, and says which side to upgrade. */
export function guardWire(
  version: string | undefined,
  spoken: { current: number; oldest: number } = wireVersions,
): void {
  if (version === undefined) return
  const { current, oldest } = spoken
  const range = oldest === current ? `${current}` : `${oldest} to ${current}`
  if (!/^\d{1,6}$/.test(version))
    throw new AppError('invalid', `${wireHeader} must be a number; this daemon speaks ${range}`)
  if (Number(version) < oldest)
    throw new AppError(
      'invalid',
      `the caller speaks wire version ${version}, this daemon ${range}; upgrade the caller`,
    )
  if (Number(version) > current)
    throw new AppError(
      'invalid',
      `the caller speaks wire version ${version}, this daemon ${range}; upgrade the daemon with \`sm up --replace\``,
    )
}

const everywhere = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
}
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const apiPolicy = "default-src 'none'; frame-ancestors 'none'"

/** Puts on every answer, refusals too, what keeps a browser from doing more with it than we mean. */
export const securityHeaders: MiddlewareHandler<HttpEnv> = async (c, next) => {
  await next()
  const isApi = c.req.path.startsWith('/api/')
  const { headers } = c.res
  for (const [name, value] of Object.entries(everywhere)) headers.set(name, value)
  headers.set('content-security-policy', isApi ? apiPolicy : pagePolicy)
  if (isApi || !headers.has('cache-control')) headers.set('cache-control', 'no-store')
  if (isApi) headers.set(wireHeader, String(wireVersions.current))
}

/** A caller with a token that is known. */
export type Proved = Exclude<Principal, { kind: 'anonymous' }>

/** What the listener adds to each request; a request made in the process has none of it. */
type Bindings = Partial<HttpBindings> & {
  readonly via?: 'tcp' | 'unix'
  /** To be called when a token is known; it refuses one whose sessions hold too much. */
  readonly proved?: (principal: Proved) => void
}

/** What the guards have found out about a request. */
export type HttpEnv = {
  Bindings: Bindings
  Variables: {
    principal: Principal
    isByCookie: boolean
    /** Methods of routes that fit the path of a request, which has another one. */
    otherMethods?: readonly string[]
  }
}

export type HttpContext = Context<HttpEnv>
