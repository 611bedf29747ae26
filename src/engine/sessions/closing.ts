import type { Draft } from '../../contract/event.ts'
import { draftOf } from './drafts.ts'
import type { SessionWatch } from './watch.ts'

/**
 * The turn in which an agent says that it is done, and the call by which it says so, end well;
 * without this they would be ended by force with the session.
 */
export function closing(watch: SessionWatch): Draft[] {
  const open = [...(watch.state()?.open.values() ?? [])]
  const own = { runId: watch.root.runId }
  return open.toReversed().flatMap((span): Draft[] => {
    const at = { ...own, runId: span.runId, spanId: span.spanId }
    const facts = span.facts as { callId?: string; tool?: string; agentId?: string }
    if (span.kind === 'tool' && facts.callId !== undefined)
      return [
        draftOf({ ...watch.root, ...at }, 'tool.call.completed', {
          callId: facts.callId,
          tool: facts.tool ?? 'unknown',
        }),
      ]
    if (span.kind === 'agent' && facts.agentId !== undefined)
      return [draftOf({ ...watch.root, ...at }, 'agent.completed', { agentId: facts.agentId })]
    return []
  })
}
