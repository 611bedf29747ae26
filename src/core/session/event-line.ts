import { type AgentEvent, catalogue } from '../../contract/event.ts'
import type { EventDefinition } from '../../contract/event-definition.ts'
import { fleet, type SessionId, shortId } from '../../contract/ids.ts'
import type { SessionRow } from '../../contract/index-rows.ts'
import type { SessionEventView } from '../../contract/session-views.ts'
import { operatorName } from '../messages/message-text.ts'

/** Among whose events a line is told: an agent's or a session's own, those of its children, or those of everybody. */
type Among = 'self' | 'own' | 'children' | 'fleet'

type Told = {
  /** The session that it happened in. */
  readonly row: Pick<SessionRow, 'friendlyName' | 'name'> | undefined
  /** What the agent inside of that session is called who did it. */
  readonly agent?: string | undefined
  readonly among: Among
}

/** One line of `sm events`: what happened, said of a child by its id, and of one of many by both. */
export function eventLine(
  event: AgentEvent,
  told: Told,
): Pick<SessionEventView, 'session_id' | 'event_type' | 'message' | 'metadata' | 'by'> | undefined {
  const { sm, spanKind }: EventDefinition = catalogue[event.type]
  const says = sm?.says(event)
  // A turn of a session is no child of it.
  if (!sm || !says || (spanKind === 'agent' && told.agent === undefined)) return undefined
  return {
    session_id: shortId(told.agent === undefined ? event.sessionId : event.runId),
    event_type: sm.word?.(event) ?? sm.words[0],
    message: `${calledAmong(event, told)}${says}`,
    metadata: sm.metadata?.(event) ?? null,
    by: whoAsked(event),
  }
}

function calledAmong(event: AgentEvent, { row, agent, among }: Told): string {
  const { type, sessionId, runId } = event
  if (sessionId === fleet.sessionId) return 'muster'
  const short = shortId(sessionId)
  const known = row?.friendlyName ?? row?.name ?? undefined
  const both = known === undefined ? short : `${known} (${short})`
  if (agent !== undefined) {
    const called = `${agent} (${shortId(runId)})`
    if (among === 'self') return agent
    if (among === 'own') return type === 'agent.spawned' ? `Child ${called}` : `Child ${shortId(runId)}`
    return `${called} in ${among === 'fleet' ? both : short}`
  }
  if (among === 'fleet') return both
  if (among === 'children') return type === 'session.started' ? `Child ${both}` : `Child ${short}`
  return known ?? short
}

function whoAsked({ by }: AgentEvent): string | null {
  if (by?.kind === 'session' && by.id !== undefined) return shortId(by.id as SessionId)
  return by?.kind === 'operator' ? operatorName : null
}
