import type { Config } from '../../contract/config.ts'
import { AppError } from '../../contract/errors.ts'
import type { SessionId } from '../../contract/ids.ts'
import { hasEnded, type SessionState } from './state.ts'

type Limits = Pick<Config['limits'], 'max_depth' | 'max_children'>
type State = Readonly<SessionState>

/** A session that is to hang below another one, or at the root. */
export type Adoption = {
  readonly child: SessionId
  readonly parent: SessionId | undefined
}

/** Every session below one that is open, with how many levels; the chain of parents is data and may hold a circle. */
export function levelsBelow(open: Iterable<State>, top: SessionId): ReadonlyMap<SessionId, number> {
  const all = Array.from(open)
  const levels = new Map([[top, 0]])
  for (let isGrowing = true; isGrowing; ) {
    isGrowing = false
    for (const { sessionId, parentSessionId } of all) {
      const above = parentSessionId && levels.get(parentSessionId)
      if (typeof above !== 'number' || levels.has(sessionId)) continue
      levels.set(sessionId, above + 1)
      isGrowing = true
    }
  }
  return levels
}

/** Refuses what would make a circle, hang on one that has ended, or pass a limit. */
export function checkAdoption(
  open: ReadonlyMap<SessionId, State>,
  { child, parent }: Adoption,
  limits: Limits,
): void {
  if (parent === undefined) return
  const above = open.get(parent)
  if (!above || hasEnded(above))
    throw new AppError('conflict', 'that parent has ended; name another with --parent')
  if (above.managed?.origin === 'observed')
    throw new AppError('conflict', 'that parent runs outside of Muster; adopt it first, or name another')
  const below = levelsBelow(open.values(), child)
  if (below.has(parent))
    throw new AppError('conflict', 'that parent is below it; a session cannot hang under itself')
  const height = Math.max(...below.values())
  if (above.depth + height >= limits.max_depth)
    throw over('max_depth', limits.max_depth, 'levels of sessions')
  const children = [...open.values()].filter(
    (one) => one.parentSessionId === parent && one.sessionId !== child,
  )
  if (children.length >= limits.max_children) throw over('max_children', limits.max_children, 'live children')
}

const over = (limit: string, max: number, what: string): AppError =>
  new AppError('limited', `the limit of ${max} ${what} is reached (limits.${limit}); name another parent`)
