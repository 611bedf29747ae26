import type { Draft } from '../../../contract/event.ts'
import type { AgentSession } from '../../../contract/formats/std-001/session.ts'
import type { MultiAgentSession } from '../../../contract/formats/std-008/session.ts'
import type { ImportIds } from '../derived-ids.ts'
import { hasCollaboration } from '../multi-agent.ts'
import { annotationEvent } from './annotation-events.ts'
import { callEvents } from './call-events.ts'
import { line, millis, type Run, type Timed } from './drafting.ts'
import { sessionEnd, sessionStart, sessionSummary } from './head-events.ts'
import { messageEvents } from './message-events.ts'
import { inNestedOrder } from './nest-ends.ts'
import { subSessionEvents } from './sub-session-events.ts'

/**
 * The events of a session file, in an order in which causes come before effects. Everything the file holds is in
 * them: what our words have no name for stands in `raw`, and the export puts it back.
 */
export function eventsFromSession(session: AgentSession | MultiAgentSession, ids: ImportIds): Draft[] {
  const main: Run = {
    key: 'main',
    runId: ids.run('main'),
    spanId: ids.span('main'),
    actor: (hasCollaboration(session) && line(session.collaboration.orchestrator.agent_id)) || 'main',
  }
  const notBefore = millis(session.created_at)
  const place = { run: main, notBefore }
  const calls = session.tool_calls.flatMap((call, index) => callEvents(call, { ...place, index }, ids))
  const together = hasCollaboration(session) ? collaborationEvents(session, main, ids) : []
  const body: Timed[] = [...calls, ...together]
  const last = body.reduce((latest, { sortAt }) => Math.max(latest, sortAt), notBefore)
  session.phase_annotations?.forEach((annotation, index) => {
    body.push({ draft: annotationEvent(annotation, { run: main, index }, ids), sortAt: last })
  })
  const inOrder = inNestedOrder(body).map((timed) => timed.draft)
  return [
    sessionStart(session, main, ids),
    ...inOrder,
    sessionSummary(session, main, ids),
    ...sessionEnd(session, main, ids),
  ]
}

function collaborationEvents(session: MultiAgentSession, main: Run, ids: ImportIds): Timed[] {
  const { runs, events } = subSessionEvents(session, main, ids)
  return [...events, ...messageEvents(session, { main, runs, notBefore: millis(session.created_at) }, ids)]
}
