import { type AgentEvent, catalogue } from '../../contract/event.ts'
import type { EventDefinition } from '../../contract/event-definition.ts'
import { shortId } from '../../contract/ids.ts'
import type { SessionRow } from '../../contract/index-rows.ts'
import type { SessionEventView } from '../../contract/session-views.ts'

/** One line of `sm events`: what happened, said of a child by its id. */
export function eventLine(
  event: AgentEvent,
  row: SessionRow | undefined,
  isChild: boolean,
): Pick<SessionEventView, 'event_type' | 'message' | 'metadata'> | undefined {
  const { sm }: EventDefinition = catalogue[event.type]
  const says = sm?.says(event)
  if (!sm || !says) return undefined
  const short = shortId(event.sessionId)
  const name = row?.friendlyName ?? row?.name ?? short
  // Its id is how a child is spoken to; its name is told once.
  const child = event.type === 'session.started' ? `Child ${name} (${short})` : `Child ${short}`
  return {
    event_type: sm.word?.(event) ?? sm.words[0],
    message: `${isChild ? child : name}${says}`,
    metadata: sm.metadata?.(event) ?? null,
  }
}
