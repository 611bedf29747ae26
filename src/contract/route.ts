import type * as z from 'zod'

/**
 * Who may call a route besides a person: `open` anyone, `session` every session, `operate` nobody. The others name a
 * session by `id`: `subtree` is open to that session and to all above it, `below` only to those above it, because what
 * they act on must be below them. What a `session` route is about, and how much of it the caller may see or reach, is
 * its handler's affair.
 */
export type Access = 'open' | 'session' | 'subtree' | 'below' | 'operate'

/** One route as data; server, client, OpenAPI and the route tests interpret it. */
export type Route = {
  readonly method: 'get' | 'post'
  readonly path: string
  readonly access: Access
  readonly input: z.ZodObject
  /** `json` answers the output schema once, `sse` streams frames of it. */
  readonly answers: 'json' | 'sse'
  readonly output: z.ZodType
  readonly summary: string
  /** `id` may also name an agent that works inside of a session; the session is what access is about. */
  readonly takesAgents?: true
  /** Only where the default limit does not fit. */
  readonly maxBodyBytes?: number
}

export const route = <const R extends Route>(definition: R): R => definition
