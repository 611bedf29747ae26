import { type AgentEvent, catalogue } from '../../contract/event.ts'
import type { EventDefinition } from '../../contract/event-definition.ts'
import { fleet, type SessionId, shortId } from '../../contract/ids.ts'
import type { SessionRow } from '../../contract/index-rows.ts'
import type { SessionEventView } from '../../contract/session-views.ts'
import { operatorName } from '../messages/message-text.ts'

/** Among whose events a line is told: a session's own, those of its children, or those of everybody. */
type Among = 'own' | 'children' | 'fleet'

/** One line of `sm events`: what happened, said of a child by its id, and of one of many by both. */
export function eventLine(
  event: AgentEvent,
  row: Pick<SessionRow, 'friendlyName' | 'name'> | undefined,
  among: Among,
): Pick<SessionEventView, 'event_type' | 'message' | 'metadata' | 'by'> | undefined {
  const { sm }: EventDefinition = catalogue[event.type]
  const says = sm?.says(event)
  if (!sm || !says) return undefined
  return {
    event_type: sm.word?.(event) ?? sm.words[0],
    message: `${calledAmong(among, event, row?.friendlyName ?? row?.name ?? undefined)}${says}`,
    metadata: sm.metadata?.(event) ?? null,
    by: whoAsked(event),
  }
}

function calledAmong(among: Among, { type, sessionId }: AgentEvent, known: string | undefined): string {
  if (sessionId === fleet.sessionId) return 'muster'
  const short = shortId(sessionId)
  const both = known === undefined ? short : `${known} (${short})`
  if (among === 'fleet') return both
  if (among === 'own') return known ?? short
  // Its id is how a child is spoken to; its name is told once.
  return type === 'session.started' ? `Child ${both}` : `Child ${short}`
}

function whoAsked({ by }: AgentEvent): string | null {
  if (by?.kind === 'session' && by.id !== undefined) return shortId(by.id as SessionId)
  return by?.kind === 'operator' ? operatorName : null
}
