import { AppError } from '../contract/errors.ts'
import { type SessionId, shortId } from '../contract/ids.ts'
import type { Principal } from '../contract/principal.ts'
import { operatorName } from '../core/messages/message-text.ts'
import type { Engine } from '../engine/engine.ts'

const deepest = 64

/** Refuses a session that reaches for what is not its own: only itself and what is below it are. */
export function mayAct(
  engine: Engine,
  principal: Principal,
  target: { readonly sessionId: SessionId; readonly isOwnAllowed: boolean },
): void {
  if (principal.kind === 'operator') return
  if (principal.kind === 'anonymous')
    throw new AppError('unauthenticated', 'this needs a token; run sm on the machine of the daemon')
  const { sessionId, isOwnAllowed } = target
  if (sessionId === principal.sessionId && !isOwnAllowed)
    throw new AppError('denied', 'a session cannot do this to itself; its parent or a person can')
  // A bound on the walk up, because a chain of parents is data and data can hold a circle.
  let id: SessionId | undefined = sessionId
  for (let i = 0; id && i < deepest; i++) {
    if (id === principal.sessionId) return
    id = engine.session(id)?.parentSessionId
  }
  throw new AppError(
    'denied',
    `${shortId(sessionId)} is not a descendant of this session; only its own parents and a person can act on it`,
  )
}

/** Who acted, as events and receipts name them. */
export function nameOf(engine: Engine, principal: Principal): string {
  if (principal.kind !== 'session') return principal.kind === 'operator' ? operatorName : 'anonymous'
  const { friendlyName, name } = engine.session(principal.sessionId)?.managed ?? {}
  const called = friendlyName ?? name
  // A session may call itself what it likes; it is not taken for a person by that.
  const isTaken = called === operatorName || called === 'anonymous'
  return called === undefined || isTaken ? shortId(principal.sessionId) : called
}

/**
 * Refuses a session that a workflow runs for one of its tasks to start others or to move in the tree: whoever was
 * handed something hands nothing on. One that was spawned is bound by the limits of its tree alone.
 */
export async function refuseOnDuty(engine: Engine, principal: Principal): Promise<void> {
  if (principal.kind !== 'session') return
  const above = engine.session(principal.sessionId)?.parentSessionId
  // Also when the workflow ended long ago: one that outlived it is not free by that.
  const { managed } = (above && (await engine.known(above))) || {}
  if (managed?.origin !== 'workflow') return
  throw new AppError(
    'denied',
    `this session works for ${managed.name} and cannot start sessions or workflows; say what is needed in the blockers of the answer, or ask the architect`,
  )
}
