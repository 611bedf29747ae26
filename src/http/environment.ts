import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { Principal } from '../contract/principal.ts'

/** What the listener adds to each request; a request made in the process has none of it. */
export type Bindings = Partial<HttpBindings> & { readonly via?: 'tcp' | 'unix' }

/** What the guards have found out about a request. */
export type HttpEnv = {
  Bindings: Bindings
  Variables: { principal: Principal; isByCookie: boolean }
}

export type HttpContext = Context<HttpEnv>
