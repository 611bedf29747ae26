import type { MiddlewareHandler } from 'hono'
import { wireVersions } from '../contract/wire.ts'
import type { HttpEnv } from './environment.ts'
import { wireHeader } from './guard-wire.ts'

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
