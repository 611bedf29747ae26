import { type By, type Draft, isReport, isTold, type ProducerStamp } from '../contract/event.ts'
import { fleet, type SessionId } from '../contract/ids.ts'
import type { ProjectTrust } from '../contract/project-trust.ts'
import type { Lifecycle, LoopMode, Permit } from '../contract/values.ts'
import { withPermit } from './approvals/permissions.ts'
import { evolve, type Given, hasEnded, type OpenSpan, type SessionState } from './session/state.ts'

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
  /** What a person trusts of projects, by their roots. */
  readonly trust: Map<string, ProjectTrust>
  /** How many permits and raised budgets of journals of before are no longer in force, until that was told. */
  lapsed: number
  /** When that was told last, and of how many. */
  lapse?: Lapse
}

/** Permits and raised budgets that are no longer in force, because nobody can tell who gave them. */
export type Lapse = { readonly grants: number; readonly atMs: number }

const endedKept = 10_000

export const emptyFleet = (): Fleet => ({
  sessions: new Map(),
  producers: new Map(),
  ended: new Map(),
  permits: [],
  modes: new Map(),
  trust: new Map(),
  lapsed: 0,
})

/** What the engine adds to a draft that state depends on. */
type Stamped = Given & { readonly producer?: ProducerStamp | undefined }

/** What is now true of the fleet; the fleet given is used up. */
export function evolveFleet(state: Fleet, event: Draft, given: Stamped): Fleet {
  const { producer } = given
  if (producer) state.producers.set(producerKey(producer, given.by), { epoch: producer.epoch, n: producer.n })
  if (event.type === 'settings.updated' && !isReport(given)) {
    const { projectRoot, mode } = event.payload
    if (projectRoot !== undefined && mode) state.modes.set(projectRoot, mode)
  }
  if (event.type === 'authority.lapsed') {
    state.lapsed = 0
    state.lapse = { grants: event.payload.grants, atMs: Date.parse(given.recordedAt) }
  }
  if (event.sessionId === fleet.sessionId) return evolveTrust(state, event, given)
  if (!given.by && isGrant(event)) state.lapsed += 1
  else if (!isReport(given) && event.type === 'approval.granted' && event.payload.scope === 'always')
    state.permits = withPermit(state.permits, event.payload.permit)
  const session = evolve(state.sessions.get(event.sessionId) ?? reopened(state, event), event, given)
  if (!session) return lateFact(state, event, given)
  if (event.type === 'session.started' && !isReport(given))
    countDescendant(state, event.payload.parentSessionId)
  if (!hasEnded(session)) state.sessions.set(event.sessionId, session)
  else if (state.sessions.delete(event.sessionId)) {
    const { reported: _reported, ...rest } = session
    state.ended.set(event.sessionId, { ...rest, open: new Map(), queue: [], asks: [] })
    const oldest = state.ended.size > endedKept ? state.ended.keys().next().value : undefined
    if (oldest) state.ended.delete(oldest)
  }
  return state
}

/** Trust is a person's, and the daemon ends it; what a session or an older journal says of it grants nothing. */
function evolveTrust(state: Fleet, event: Draft, given: Stamped): Fleet {
  const who = given.by?.kind
  if (isReport(given) || (who !== 'daemon' && who !== 'operator')) return state
  if (event.type === 'project.trusted') {
    const { root, files } = event.payload
    state.trust.set(root, { root, files, trustedAt: given.recordedAt })
  }
  if (event.type === 'project.trust.ended') {
    const { root, file } = event.payload
    const known = state.trust.get(root)
    if (file === undefined) state.trust.delete(root)
    else if (known) {
      const files = known.files.map((one) => (one.file === file ? { ...one, hasEnded: true as const } : one))
      state.trust.set(root, { ...known, files })
    }
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
function lateFact(state: Fleet, event: Draft, given: Given): Fleet {
  const known = state.ended.get(event.sessionId)
  if (known) evolve(known, event, given)
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

/**
 * Whose numbers these are: callers that use one name do not count on together. Of hooks and transcripts the daemon
 * itself chooses the names, which no caller can reach; part of what they bring is written as its own.
 */
const producerKey = ({ id }: ProducerStamp, by: By | undefined): string =>
  by && isTold({ by }) ? `${by.kind === 'session' ? by.id : by.kind} ${id}` : id

/** What was allowed or raised without a proof of who did so. */
const isGrant = (event: Draft): boolean =>
  event.type === 'approval.granted'
    ? event.payload.permit !== undefined && event.payload.scope !== 'once'
    : event.type === 'session.updated' && event.payload.budget !== undefined

/** Whether a producer has sent this item before. */
export function producerState(
  state: Fleet,
  stamp: ProducerStamp,
  by: By | undefined,
): 'new' | 'repeat' | 'stale epoch' {
  // Journals of before know it by its own name alone.
  const cursor = state.producers.get(producerKey(stamp, by)) ?? state.producers.get(stamp.id)
  if (!cursor || stamp.epoch > cursor.epoch) return 'new'
  if (stamp.epoch < cursor.epoch) return 'stale epoch'
  return stamp.n > cursor.n ? 'new' : 'repeat'
}

/** Raised when state keeps more than a snapshot of before has: such a one is not used, and all is folded anew. */
const snapshotVersion = 7

type KeptSpans = [string, OpenSpan][]

type FleetSnapshot = {
  version?: number
  sessions: (Omit<SessionState, 'open' | 'reported'> & { open: KeptSpans; reported?: KeptSpans })[]
  producers: [string, ProducerCursor][]
  ended: FleetSnapshot['sessions']
  permits?: readonly Permit[]
  modes?: [string, LoopMode][]
  trust: readonly ProjectTrust[]
  lapsed: number
  lapse?: Lapse
}

const kept = (sessions: Iterable<SessionState>): FleetSnapshot['sessions'] =>
  [...sessions].map(({ reported, ...session }) => ({
    ...session,
    open: [...session.open],
    ...(reported && { reported: [...reported] }),
  }))

const restored = (sessions: FleetSnapshot['sessions']): Map<SessionId, SessionState> =>
  new Map(
    sessions.map(({ reported, ...session }) => [
      session.sessionId,
      { ...session, open: new Map(session.open), ...(reported && { reported: new Map(reported) }) },
    ]),
  )

export const snapshotFleet = (state: Fleet): FleetSnapshot => ({
  version: snapshotVersion,
  sessions: kept(state.sessions.values()),
  producers: [...state.producers],
  ended: kept(state.ended.values()),
  permits: state.permits,
  modes: [...state.modes],
  trust: [...state.trust.values()],
  lapsed: state.lapsed,
  ...(state.lapse && { lapse: state.lapse }),
})

/** Undefined when it was saved by code that kept less: then only the events themselves tell the rest. */
export function restoreFleet(snapshot: unknown): Fleet | undefined {
  const saved = snapshot as FleetSnapshot
  if (saved.version !== snapshotVersion) return undefined
  const { sessions, producers, ended, permits = [], modes = [], trust, lapsed, lapse } = saved
  return {
    sessions: restored(sessions),
    producers: new Map(producers),
    ended: restored(ended),
    permits,
    modes: new Map(modes),
    trust: new Map(trust.map((one) => [one.root, one])),
    lapsed,
    ...(lapse && { lapse }),
  }
}
