import type { RunRow, SessionRow } from '../contract/index-rows.ts'
import type { Asker, CallContext, Principal } from '../contract/principal.ts'
import type { Route } from '../contract/route.ts'
import { type Api, type Routes, routes } from '../contract/routes.ts'
import type { Engine } from '../engine/engine.ts'
import type { Directory } from './directory.ts'
import { kindOf, type SessionKind, type SessionKinds } from './session-kinds/session-kind.ts'
import { askerOf, mayAct } from './who-may.ts'

/**
 * The session that a caller names and may reach, what kind it is, and who the caller is. Only a route that takes agents
 * is given the run of one inside of it.
 */
export type Reached = {
  readonly row: SessionRow
  readonly run: RunRow | undefined
  readonly kind: SessionKind
  readonly by: Asker
}

type ReachingAccess = 'subtree' | 'below'

/** As the routes say who may call: a handler of one that reaches for a session is given it. */
export type Handlers<N extends keyof Api> = {
  [M in N]: Routes[M]['access'] extends ReachingAccess
    ? (input: Parameters<Api[M]>[0], context: CallContext & Reached) => ReturnType<Api[M]>
    : Api[M]
}

type Deps = { readonly directory: Directory; readonly engine: Engine; readonly kinds: SessionKinds }

type Reach = Pick<Route, 'takesAgents'> & {
  readonly principal: Principal
  readonly access: ReachingAccess
}

/** The session that a word names, refused to whom it is not open. */
export async function reach(
  { directory, engine, kinds }: Deps,
  word: string,
  { principal, access, takesAgents }: Reach,
): Promise<Reached> {
  const { row, run } = takesAgents
    ? await directory.findNode(word, principal)
    : { row: await directory.find(word, principal) }
  await mayAct(directory, principal, { sessionId: row.sessionId, isOwnAllowed: access === 'subtree' })
  return { row, run, kind: kindOf(kinds, row), by: askerOf(engine, principal) }
}

type Handler = (input: { readonly id: string }, context: CallContext) => Promise<unknown>

/** Handlers as the server calls them: whoever may not reach the session in question does not come to one. */
export function reaching<N extends keyof Api>(deps: Deps, handlers: Handlers<N>): Pick<Api, N> {
  const guarded = Object.entries(handlers).map(([name, handler]) => {
    const { access, takesAgents }: Route = routes[name as N]
    if (access !== 'subtree' && access !== 'below') return [name, handler]
    const guard: Handler = async (input, context) => {
      const { principal } = context
      return (handler as Handler)(input, {
        ...context,
        ...(await reach(deps, input.id, { principal, access, ...(takesAgents && { takesAgents }) })),
      })
    }
    return [name, guard]
  })
  return Object.fromEntries(guarded) as Pick<Api, N>
}
