import type { Draft, ProducerStamp } from '../contract/event.ts'
import { fleet, type SessionId } from '../contract/ids.ts'
import type { Lifecycle, LoopMode, Permit } from '../contract/values.ts'
import { withPermit } from './approvals/permissions.ts'
import { evolve, hasEnded, type OpenSpan, type SessionState } from './session/state.ts'

/** How far a producer has got; what it repeats up to here is known. */
type ProducerCursor = { epoch: number; n: number }

/** Everything that is open, and what makes repeats harmless. Ended sessions leave; the index has them. */
export type Fleet = {
  readonly sessions: Map<SessionId, SessionState>
  readonly producers: Map<string, ProducerCursor>
  /** Sessions that ended lately, until the index surely knows of them. */
  readonly ended: Map<SessionId, SessionState>
  /** What was allowed for good. */
  permits: readonly Permit[]
  /** How built-in agents work, by project. */
  readonly modes: Map<string, LoopMode>
}

const endedKept = 10_000

export const emptyFleet = (): Fleet => ({
  sessions: new Map(),
  producers: new Map(),
  ended: new Map(),
  permits: [],
  modes: new Map(),
})

/** What the engine adds to a draft that state depends on. */
type Given = { readonly recordedAt: string; readonly producer?: ProducerStamp | undefined }

/** What is now true of the fleet; the fleet given is used up. */
export function evolveFleet(state: Fleet, event: Draft, { producer, recordedAt }: Given): Fleet {
  if (producer) state.producers.set(producer.id, { epoch: producer.epoch, n: producer.n })
  if (event.type === 'settings.updated') {
    const { projectRoot, mode } = event.payload
    if (projectRoot !== undefined && mode) state.modes.set(projectRoot, mode)
  }
  if (event.sessionId === fleet.sessionId) return state
  if (event.type === 'approval.granted' && event.payload.scope === 'always')
    state.permits = withPermit(state.permits, event.payload.permit)
  const session = evolve(state.sessions.get(event.sessionId) ?? reopened(state, event), event, recordedAt)
  if (!session) return lateFact(state, event, recordedAt)
  if (event.type === 'session.started') countDescendant(state, event.payload.parentSessionId)
  if (!hasEnded(session)) state.sessions.set(event.sessionId, session)
  else if (state.sessions.delete(event.sessionId)) {
    state.ended.set(event.sessionId, { ...session, open: new Map(), queue: [], asks: [] })
    const oldest = state.ended.size > endedKept ? state.ended.keys().next().value : undefined
    if (oldest) state.ended.delete(oldest)
  }
  return state
}

function reopened(state: Fleet, event: Draft): SessionState | undefined {
  if (event.type !== 'session.reopened') return undefined
  const known = state.ended.get(event.sessionId)
  state.ended.delete(event.sessionId)
  return known ?? endedSession(event.sessionId, 'completed')
}

/** A name or a terminal can change after the end too: the session may still be there to be reopened. */
function lateFact(state: Fleet, event: Draft, recordedAt: string): Fleet {
  const known = state.ended.get(event.sessionId)
  if (known) evolve(known, event, recordedAt)
  return state
}

/** Counted for ever: a session that spawns and ends children in a circle must meet its limit too. */
function countDescendant(state: Fleet, parent: SessionId | undefined): void {
  const seen = new Set<SessionId>()
  for (let id = parent; id && !seen.has(id); ) {
    seen.add(id)
    const session = state.sessions.get(id) ?? state.ended.get(id)
    if (!session) return
    session.descendants += 1
    id = session.parentSessionId
  }
}

/** An ended session as deciding sees it: nothing in it is open. */
export const endedSession = (sessionId: SessionId, lifecycle: Lifecycle): SessionState => ({
  sessionId,
  lifecycle,
  depth: 0,
  descendants: 0,
  open: new Map(),
})

/** Whether a producer has sent this item before. */
export function producerState(state: Fleet, stamp: ProducerStamp): 'new' | 'repeat' | 'stale epoch' {
  const cursor = state.producers.get(stamp.id)
  if (!cursor || stamp.epoch > cursor.epoch) return 'new'
  if (stamp.epoch < cursor.epoch) return 'stale epoch'
  return stamp.n > cursor.n ? 'new' : 'repeat'
}

/** Raised when state keeps more than a snapshot of before has: such a one is not used, and all is folded anew. */
const snapshotVersion = 2

type FleetSnapshot = {
  version?: number
  sessions: (Omit<SessionState, 'open'> & { open: [string, OpenSpan][] })[]
  producers: [string, ProducerCursor][]
  ended: FleetSnapshot['sessions']
  permits?: readonly Permit[]
  modes?: [string, LoopMode][]
}

const kept = (sessions: Iterable<SessionState>): FleetSnapshot['sessions'] =>
  [...sessions].map((session) => ({ ...session, open: [...session.open] }))

const restored = (sessions: FleetSnapshot['sessions']): Map<SessionId, SessionState> =>
  new Map(sessions.map((session) => [session.sessionId, { ...session, open: new Map(session.open) }]))

export const snapshotFleet = (state: Fleet): FleetSnapshot => ({
  version: snapshotVersion,
  sessions: kept(state.sessions.values()),
  producers: [...state.producers],
  ended: kept(state.ended.values()),
  permits: state.permits,
  modes: [...state.modes],
})

/** Undefined when it was saved by code that kept less: then only the events themselves tell the rest. */
export function restoreFleet(snapshot: unknown): Fleet | undefined {
  const { version, sessions, producers, ended, permits = [], modes = [] } = snapshot as FleetSnapshot
  if (version !== snapshotVersion) return undefined
  return {
    sessions: restored(sessions),
    producers: new Map(producers),
    ended: restored(ended),
    permits,
    modes: new Map(modes),
  }
}
