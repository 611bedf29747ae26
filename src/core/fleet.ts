import type { Draft, ProducerStamp } from '../contract/event.ts'
import { fleet, type SessionId } from '../contract/ids.ts'
import type { Lifecycle } from '../contract/values.ts'
import { evolve, hasEnded, type OpenSpan, type SessionState } from './session/state.ts'

/** How far a producer has got; what it repeats up to here is known. */
type ProducerCursor = { epoch: number; n: number }

/** Everything that is open, and what makes repeats harmless. Ended sessions leave; the index has them. */
export type Fleet = {
  readonly sessions: Map<SessionId, SessionState>
  readonly producers: Map<string, ProducerCursor>
  /** Sessions that ended lately, until the index surely knows of them. */
  readonly ended: Map<SessionId, Lifecycle>
}

const endedKept = 10_000

export const emptyFleet = (): Fleet => ({ sessions: new Map(), producers: new Map(), ended: new Map() })

/** What is now true of the fleet; the fleet given is used up. */
export function evolveFleet(state: Fleet, event: Draft, producer?: ProducerStamp): Fleet {
  if (producer) state.producers.set(producer.id, { epoch: producer.epoch, n: producer.n })
  if (event.sessionId === fleet.sessionId) return state
  const session = evolve(state.sessions.get(event.sessionId) ?? reopened(state, event), event)
  if (!session) return state
  if (!hasEnded(session)) state.sessions.set(event.sessionId, session)
  else if (state.sessions.delete(event.sessionId)) {
    state.ended.set(event.sessionId, session.lifecycle)
    const oldest = state.ended.size > endedKept ? state.ended.keys().next().value : undefined
    if (oldest) state.ended.delete(oldest)
  }
  return state
}

function reopened(state: Fleet, event: Draft): SessionState | undefined {
  if (event.type !== 'session.reopened') return undefined
  state.ended.delete(event.sessionId)
  return endedSession(event.sessionId, 'completed')
}

/** An ended session as deciding sees it: nothing in it is open. */
export const endedSession = (sessionId: SessionId, lifecycle: Lifecycle): SessionState => ({
  sessionId,
  lifecycle,
  open: new Map(),
})

/** Whether a producer has sent this item before. */
export function standing(state: Fleet, stamp: ProducerStamp): 'new' | 'repeat' | 'stale epoch' {
  const cursor = state.producers.get(stamp.id)
  if (!cursor || stamp.epoch > cursor.epoch) return 'new'
  if (stamp.epoch < cursor.epoch) return 'stale epoch'
  return stamp.n > cursor.n ? 'new' : 'repeat'
}

type FleetSnapshot = {
  sessions: (Omit<SessionState, 'open'> & { open: [string, OpenSpan][] })[]
  producers: [string, ProducerCursor][]
  ended: [SessionId, Lifecycle][]
}

export const snapshotFleet = (state: Fleet): FleetSnapshot => ({
  sessions: [...state.sessions.values()].map((session) => ({ ...session, open: [...session.open] })),
  producers: [...state.producers],
  ended: [...state.ended],
})

export function restoreFleet(snapshot: unknown): Fleet {
  const { sessions, producers, ended } = snapshot as FleetSnapshot
  return {
    sessions: new Map(sessions.map((s) => [s.sessionId, { ...s, open: new Map(s.open) }])),
    producers: new Map(producers),
    ended: new Map(ended),
  }
}
