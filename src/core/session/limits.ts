import type { Config } from '../../contract/config.ts'
import type { SessionId } from '../../contract/ids.ts'
import type { Fleet } from '../fleet.ts'
import { heldBy } from './held-by.ts'
import type { SessionState } from './state.ts'

/** A limit that a spawn would pass. */
export type Passed = {
  readonly limit: string
  readonly max: number
  readonly current: number
  readonly what: string
}

type Limits = Config['limits']

/** The first limit that one more session below `parent` would pass; `recentSpawns` are those of the last minute. */
export function spawnLimit(
  fleet: Fleet,
  limits: Limits,
  { parent, recentSpawns }: { parent: SessionId | undefined; recentSpawns: number },
): Passed | undefined {
  const passed = (limit: keyof Limits, current: number, what: string): Passed | undefined =>
    current >= limits[limit] ? { limit, max: limits[limit], current, what } : undefined
  const ofOurs = [...fleet.sessions.values()].filter(
    ({ managed }) => managed && managed.origin !== 'observed',
  )
  // An agent of Muster's own needs no program of its own.
  const live = ofOurs.filter(({ managed }) => managed?.origin === 'managed')
  const above = parent === undefined ? undefined : (fleet.sessions.get(parent) ?? fleet.ended.get(parent))
  return (
    spent(fleet, above) ??
    passed('max_sessions', live.length, 'sessions that run at one time') ??
    passed('spawns_per_minute', recentSpawns, 'sessions started within a minute') ??
    (above &&
      (passed('max_depth', above.depth, 'levels of sessions below a root') ??
        passed(
          'max_children',
          childrenOf(ofOurs, above),
          `live children of ${above.managed?.name ?? 'a session'}`,
        ) ??
        passed('max_descendants', rootOf(fleet, above).descendants, 'sessions ever started below one root')))
  )
}

/** Whoever may not go on may not send others to go on in its place. */
function spent(fleet: Fleet, above: SessionState | undefined): Passed | undefined {
  const holder = above && heldBy(above, (id) => fleet.sessions.get(id) ?? fleet.ended.get(id))
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
