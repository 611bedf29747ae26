import { AppError } from '../contract/errors.ts'
import { type By, catalogue, type Draft, type EventType } from '../contract/event.ts'
import { fleet as fleetIds, type SessionId } from '../contract/ids.ts'
import type { Fleet } from './fleet.ts'
import { isControl } from './session/state.ts'

/**
 * Who stands behind an event that was found in a hook or a transcript: it was said by the session; but what is decided
 * on, such as that a message arrived, is what the daemon concludes from it.
 */
export const byObserved = (type: EventType, by: By): By => (isControl(type) ? byDaemon : by)

export const byDaemon: By = { kind: 'daemon' }

/** Refuses what a caller may not say: of whom, of which type, and with which fields. */
export function refuseReport(fleet: Fleet, draft: Draft, by: By): void {
  if (draft.sessionId === fleetIds.sessionId)
    throw new AppError('denied', 'only the daemon may write facts about the fleet; use a session id')
  const isRun =
    (fleet.sessions.get(draft.sessionId) ?? fleet.ended.get(draft.sessionId))?.managed !== undefined
  if (by.kind === 'session') refuseForeign(fleet, draft, by)
  if (by.via === 'import') {
    if (isRun) throw new AppError('denied', 'Muster runs this session; only records of others are imported')
    return
  }
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

function refuseForeign(fleet: Fleet, draft: Draft, by: By): void {
  // A bound on the walk up, because a chain of parents is data and data can hold a circle.
  let id: SessionId | undefined = draft.sessionId
  for (let i = 0; id && i < 64; i++) {
    if (id === by.id) return
    id = (fleet.sessions.get(id) ?? fleet.ended.get(id))?.parentSessionId
  }
  throw new AppError('denied', 'a session may report only for itself and its descendants')
}
