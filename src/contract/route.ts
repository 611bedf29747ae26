import type * as z from 'zod'

/** What a caller needs: nothing to read, a session's capability to report, the operator's token to operate. */
export type Access = 'read' | 'report' | 'operate'

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
  /** Only where the default limit does not fit. */
  readonly maxBodyBytes?: number
}

export const route = <const R extends Route>(definition: R): R => definition
