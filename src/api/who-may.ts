import { AppError } from '../contract/errors.ts'
import type { By } from '../contract/event.ts'
import { type SessionId, shortId } from '../contract/ids.ts'
import type { SessionRow } from '../contract/index-rows.ts'
import type { Asker, Principal } from '../contract/principal.ts'
import { operatorName } from '../core/messages/message-text.ts'
import type { Engine } from '../engine/engine.ts'

/** The tree of sessions; what is above one that is not in memory has to be looked up. */
export type Tree = {
  parentOf(id: SessionId): SessionId | undefined | Promise<SessionId | undefined>
}

// A bound on the walk up, because a chain of parents is data and data can hold a circle.
const deepest = 64

function isWithin(tree: Tree, id: SessionId, top: SessionId): boolean | Promise<boolean> {
  const walk = (at: SessionId | undefined, left: number): boolean | Promise<boolean> => {
    if (at === undefined || left === 0) return false
    if (at === top) return true
    const above = tree.parentOf(at)
    return above instanceof Promise ? above.then((found) => walk(found, left - 1)) : walk(above, left - 1)
  }
  return walk(id, deepest)
}

/** Whether a caller may see all of a session: a person of each, a session of itself and those below it. */
export function sees(tree: Tree, principal: Principal, id: SessionId): boolean | Promise<boolean> {
  if (principal.kind === 'session') return isWithin(tree, id, principal.sessionId)
  return principal.kind === 'operator'
}

/** The session at the top of a tree: as far up as is known at once, since nobody waits for what it decides. */
export function topOf(tree: Tree, id: SessionId): SessionId {
  let top = id
  for (let left = deepest; left > 0; left--) {
    const above = tree.parentOf(top)
    // Looked up by now, it is known the next time; one that cannot be looked up is nobody's bug here.
    if (above instanceof Promise) above.catch(() => {})
    if (above === undefined || above instanceof Promise) break
    top = above
  }
  return top
}

/** What belongs to a session, for those who may see it; for others it is not there, and they are told no more than that. */
export async function seenBy<T extends { readonly sessionId: SessionId }>(
  tree: Tree,
  principal: Principal,
  found: T | undefined,
): Promise<T | undefined> {
  return found && (await sees(tree, principal, found.sessionId)) ? found : undefined
}

/** What a caller may see of a session: all of it, who it is and how it stands, or nothing. */
type Sight = 'all' | 'name' | 'nothing'

/** A session knows of the one above it and of those beside it, and sees no word of theirs. */
export async function sightOf(
  tree: Tree,
  principal: Principal,
  { sessionId, parentId }: Pick<SessionRow, 'sessionId' | 'parentId'>,
): Promise<Sight> {
  if (await sees(tree, principal, sessionId)) return 'all'
  const above = principal.kind === 'session' ? await tree.parentOf(principal.sessionId) : undefined
  return above !== undefined && (sessionId === above || parentId === above) ? 'name' : 'nothing'
}

/** What the lists of the index are narrowed to for a caller. */
export const within = (principal: Principal): { readonly within?: SessionId } =>
  principal.kind === 'session' ? { within: principal.sessionId } : {}

/** Refuses a session that reaches for what is not its own: only itself and what is below it are. */
export async function mayAct(
  tree: Tree,
  principal: Principal,
  target: { readonly sessionId: SessionId; readonly isOwnAllowed: boolean },
): Promise<void> {
  if (principal.kind === 'operator') return
  if (principal.kind === 'anonymous')
    throw new AppError('unauthenticated', 'this needs a token; run sm on the machine of the daemon')
  const { sessionId, isOwnAllowed } = target
  if (sessionId === principal.sessionId && !isOwnAllowed)
    throw new AppError('denied', 'a session cannot do this to itself; its parent or a person can')
  if (await isWithin(tree, sessionId, principal.sessionId)) return
  throw new AppError(
    'denied',
    `${shortId(sessionId)} is not a descendant of this session; only its own parents and a person can see or act on it`,
  )
}

/** Who stands behind what a caller asks for or, with `via`, reports. */
export function byOf(principal: Principal, via?: 'report' | 'import'): By {
  if (principal.kind === 'anonymous')
    throw new AppError('unauthenticated', 'this needs a token; run sm on the machine of the daemon')
  const { kind } = principal
  const id = kind === 'session' ? principal.sessionId : principal.channel
  return { kind, id, ...(via && { via }) }
}

/** The caller, as what it asked for names it. */
export const askerOf = (engine: Engine, principal: Principal): Asker => ({
  name: nameOf(engine, principal),
  by: byOf(principal),
})

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

/**
 * Refuses a session behind walls to start what would work outside them: built-in agents, crews and scripts. A person
 * who approves a script is not shown who would be let out by it.
 */
export function refuseBehindWalls(engine: Engine, principal: Principal): void {
  if (principal.kind !== 'session' || !engine.session(principal.sessionId)?.managed?.isolation) return
  throw new AppError(
    'denied',
    'an isolated session cannot start agents or workflows outside its sandbox; ask a person',
  )
}
