import { blobRefs } from '../contract/blob-refs.ts'
import { AppError } from '../contract/errors.ts'
import { type By, catalogue, type Draft, type EventType, isTold } from '../contract/event.ts'
import { fleet as fleetIds, type SessionId } from '../contract/ids.ts'
import { muster } from '../contract/principal.ts'
import type { Fleet } from './fleet.ts'
import { isControl, type SessionState } from './session/state.ts'

/**
 * Who stands behind an event that was found in a hook or a transcript: it was said by the session; but what is decided
 * on, such as that a message arrived, is what the daemon concludes from it.
 */
export const byObserved = (type: EventType, by: By): By => (isControl(type) ? muster.by : by)

/** Refuses what a caller may not say: of whom, of which type, and with which fields. */
export function refuseReport(fleet: Fleet, draft: Draft, by: By): void {
  // Only the engine moves texts into packs, and an event that names another's would be read as if it held that text.
  if (by.via !== 'import' && !blobRefs(draft.payload).next().done)
    throw new AppError('denied', `the payload of ${draft.type} names a stored text; send the text itself`)
  if (isTold({ by })) refuseTold(fleet, draft, by)
}

/** What a caller says outright; what is seen in a hook or a record the daemon itself made into facts. */
function refuseTold(fleet: Fleet, draft: Draft, by: By): void {
  if (draft.sessionId === fleetIds.sessionId)
    throw new AppError('denied', 'only the daemon may write facts about the fleet; use a session id')
  const isRun =
    (fleet.sessions.get(draft.sessionId) ?? fleet.ended.get(draft.sessionId))?.managed !== undefined
  if (by.kind === 'session') refuseForeign(fleet, draft, by)
  if (by.via === 'import') {
    if (isRun) throw new AppError('denied', 'Muster runs this session; only records of others are imported')
    return
  }
  if (draft.id !== undefined)
    throw new AppError('denied', 'the id of an event is given by the daemon alone; leave it out')
  const { reporter, control } = catalogue[draft.type]
  if (reporter === 'daemon')
    throw new AppError(
      'denied',
      `${draft.type} is written by the daemon alone; use the route or command for it`,
    )
  const field = control.find((name) => (draft.payload as Record<string, unknown>)[name] !== undefined)
  if (field !== undefined)
    throw new AppError('denied', `payload.${field} of ${draft.type} is set by the daemon alone; leave it out`)
  if (reporter === 'session') return
  if (by.kind === 'session')
    throw new AppError('denied', `a session may not report ${draft.type}; the operator's token may`)
  if (isRun)
    throw new AppError(
      'denied',
      `${draft.type} is reported only of sessions that Muster does not run; use the route or command for it`,
    )
}

/** Somebody who reports tells late, never early: time that is yet to come would count as time that was spent. */
export const notLater = (draft: Draft, now: string): Draft =>
  draft.timestamp !== undefined && draft.timestamp > now ? { ...draft, timestamp: now } : draft

function refuseForeign(fleet: Fleet, draft: Draft, by: By): void {
  let isOwn = false
  for (const state of upwards(fleet, draft.sessionId)) {
    if (isOwn) refusePlace(state, draft)
    if (state.sessionId === by.id) isOwn = true
  }
  if (!isOwn) throw new AppError('denied', 'a session may report only for itself and its descendants')
}

/** A session and those above it. */
function* upwards(fleet: Fleet, from: SessionId): Generator<Readonly<SessionState>> {
  let id: SessionId | undefined = from
  // A bound on the walk up, because a chain of parents is data and data can hold a circle.
  for (let i = 0; id && i < 64; i++) {
    const state: SessionState | undefined = fleet.sessions.get(id) ?? fleet.ended.get(id)
    if (!state) return
    yield state
    id = state.parentSessionId
  }
}

/** One trace runs through a whole tree: whoever is told which span it hangs below could end it, or add to its run. */
function refusePlace(above: Readonly<SessionState>, draft: Draft): void {
  for (const { traceId, spanId, runId } of above.open.values())
    if ((traceId === draft.traceId && spanId === draft.spanId) || runId === draft.runId)
      throw new AppError('denied', 'that span or run is of a session above; name one of your own')
}
