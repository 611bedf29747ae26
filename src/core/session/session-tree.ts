import type { Config } from '../../contract/config.ts'
import { AppError } from '../../contract/errors.ts'
import type { SessionId } from '../../contract/ids.ts'
import type { Fleet } from '../fleet.ts'
import { hasEnded, type SessionState } from './state.ts'

type Limits = Config['limits']
type State = Readonly<SessionState>

/** A session that gets another parent, or becomes a root. */
type Adoption = {
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

/** Refuses what would make a circle, name a parent that has ended, or pass a limit. */
export function checkAdoption(
  open: ReadonlyMap<SessionId, State>,
  { child, parent }: Adoption,
  limits: Pick<Limits, 'max_depth' | 'max_children'>,
): void {
  if (parent === undefined) return
  const above = open.get(parent)
  if (!above || hasEnded(above))
    throw new AppError('conflict', 'that parent has ended; name another with --parent')
  if (above.managed?.origin === 'observed')
    throw new AppError('conflict', 'that parent runs outside Muster; adopt it first, or name another')
  const below = levelsBelow(open.values(), child)
  if (below.has(parent))
    throw new AppError(
      'conflict',
      'that parent is one of its descendants; a session cannot be its own ancestor',
    )
  const height = Math.max(...below.values())
  if (above.depth + height >= limits.max_depth)
    throw limitReached('max_depth', limits.max_depth, 'levels of sessions')
  const children = [...open.values()].filter(
    (one) => one.parentSessionId === parent && one.sessionId !== child,
  )
  if (children.length >= limits.max_children)
    throw limitReached('max_children', limits.max_children, 'live children')
}

const limitReached = (limit: string, max: number, what: string): AppError =>
  new AppError('limited', `the limit of ${max} ${what} is reached (limits.${limit}); name another parent`)

/** A limit that a spawn would pass. */
export type ReachedLimit = {
  readonly limit: string
  readonly max: number
  readonly current: number
  readonly what: string
}

/** The first limit that one more session below `parent` would pass; `recentSpawns` are those of the last minute. */
export function spawnLimit(
  fleet: Fleet,
  limits: Limits,
  { parent, recentSpawns }: { parent: SessionId | undefined; recentSpawns: number },
): ReachedLimit | undefined {
  const passed = (limit: keyof Limits, current: number, what: string): ReachedLimit | undefined =>
    current >= limits[limit] ? { limit, max: limits[limit], current, what } : undefined
  const known = [...fleet.sessions.values()].filter(({ managed }) => managed && managed.origin !== 'observed')
  // A built-in agent needs no program.
  const live = known.filter(({ managed }) => managed?.origin === 'managed')
  const above = parent === undefined ? undefined : (fleet.sessions.get(parent) ?? fleet.ended.get(parent))
  return (
    spent(fleet, above) ??
    passed('max_sessions', live.length, 'sessions running at a time') ??
    passed('spawns_per_minute', recentSpawns, 'sessions started within a minute') ??
    (above &&
      (passed('max_depth', above.depth, 'levels of sessions below a root') ??
        passed(
          'max_children',
          childrenOf(known, above),
          `live children of ${above.managed?.name ?? 'a session'}`,
        ) ??
        passed('max_descendants', rootOf(fleet, above).descendants, 'sessions ever started below one root')))
  )
}

/** Whoever may not continue may not start others to continue in its place. */
function spent(fleet: Fleet, above: SessionState | undefined): ReachedLimit | undefined {
  const holder = above && firstOverBudget(above, (id) => fleet.sessions.get(id) ?? fleet.ended.get(id))
  if (!holder) return undefined
  const { budget, name } = holder.managed ?? {}
  const max = budget?.tokens ?? budget?.usd ?? 0
  return { limit: 'budget', max, current: max, what: `the budget of ${name ?? 'a session above it'}` }
}

const childrenOf = (live: readonly SessionState[], parent: SessionState): number =>
  live.filter(({ parentSessionId }) => parentSessionId === parent.sessionId).length

function rootOf(fleet: Fleet, from: SessionState): SessionState {
  const seen = new Set<SessionId>()
  let state = from
  while (state.parentSessionId && !seen.has(state.sessionId)) {
    seen.add(state.sessionId)
    const next = fleet.sessions.get(state.parentSessionId) ?? fleet.ended.get(state.parentSessionId)
    if (!next) break
    state = next
  }
  return state
}

const deepest = 64

/** What stops a session: itself or the first above it whose budget is used up and was not raised. */
export function firstOverBudget(from: State, find: (id: SessionId) => State | undefined): State | undefined {
  let state: State | undefined = from
  for (let i = 0; state && i < deepest; i++) {
    if (state.managed?.isSpent) return state
    state = state.parentSessionId && find(state.parentSessionId)
  }
  return undefined
}

/** Ends after which nobody is there to look after children, even while the program is still in its terminal. */
const fatalEnds: ReadonlySet<string> = new Set(['error', 'killed', 'cancelled'])

/**
 * Whether the children of a session have lost it. One that completed, or was abandoned itself, is still there for
 * them as long as its program is.
 */
export const leavesOrphans = (parent: State, hasProgram: boolean): boolean =>
  hasEnded(parent) && (fatalEnds.has(parent.lifecycle) || !hasProgram)

/** How many open children each parent has. */
export function openChildren(open: Iterable<State>): ReadonlyMap<SessionId, number> {
  const counts = new Map<SessionId, number>()
  for (const { parentSessionId } of open)
    if (parentSessionId) counts.set(parentSessionId, (counts.get(parentSessionId) ?? 0) + 1)
  return counts
}
