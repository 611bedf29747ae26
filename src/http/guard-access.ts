import { AppError } from '../contract/errors.ts'
import type { Principal } from '../contract/principal.ts'
import type { Access } from '../contract/route.ts'

/** The cookie a login link leaves in a browser. */
export const sessionCookie = 'muster_session'

/** How tokens are proved; comparing them is the daemon's. */
export type Authenticate = (token: string) => Principal | undefined

/** Who is asking, and whether only a cookie says so. */
export type Caller = { readonly principal: Principal; readonly isByCookie: boolean }

/** The headers that can carry a token. */
export type Credentials = { readonly authorization: string | undefined; readonly cookie: string | undefined }

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
export function guardAccess(access: Access, principal: Principal, anonymousReads: boolean): void {
  if (principal.kind === 'operator') return
  if (principal.kind === 'anonymous') {
    if (access === 'read' && anonymousReads) return
    throw new AppError('unauthenticated', 'this needs a token; use sm, or run `sm open` for the page')
  }
  if (access === 'operate')
    throw new AppError('denied', "a session's own token may only report for itself; ask the operator")
}

/** Refuses an act that only a cookie stands for when the browser does not say that our own page sent it. */
export function guardForgery(isByCookie: boolean, method: string, origin: string | undefined): void {
  const isAct = method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
  if (isByCookie && isAct && origin === undefined)
    throw new AppError('denied', 'an act by cookie needs an Origin header; use the page, or a token')
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
