import type { Draft } from '../../contract/event.ts'
import type { Detection } from '../../contract/events/session.ts'
import { draftOf } from './drafts.ts'
import type { SessionWatch } from './watch.ts'

/** What is said of the end of a session; `detected` when a guess of it was agreed to. */
export type Said = {
  readonly message?: string | undefined
  readonly status: 'completed' | 'error' | 'abandoned'
  readonly detected?: Detection | undefined
}

/** The end of a session as it was said, after the end of what still ran in it. */
export function completing(watch: SessionWatch, { message, status, detected }: Said): Draft[] {
  const said = { ...(message !== undefined && { message }) }
  return [
    ...closing(watch),
    status === 'error'
      ? draftOf(watch.root, 'session.failed', { ...said, reason: 'said by the agent' })
      : draftOf(watch.root, 'session.completed', {
          ...said,
          outcome: status,
          ...(detected && { detected }),
        }),
  ]
}

/**
 * The turn in which an agent says that it is done, and the call by which it says so, end well;
 * without this they would be ended by force with the session.
 */
function closing(watch: SessionWatch): Draft[] {
  const open = [...(watch.state()?.open.values() ?? [])]
  const ended = open.toReversed().flatMap((span): Draft[] => {
    const { kind: _kind, facts: _facts, parentRunId, ...at } = span
    const facts = span.facts as { callId?: string; tool?: string; agentId?: string }
    if (span.kind === 'tool' && facts.callId !== undefined)
      return [
        draftOf({ ...watch.root, ...at }, 'tool.call.completed', {
          callId: facts.callId,
          tool: facts.tool ?? 'unknown',
        }),
      ]
    if (span.kind === 'agent' && facts.agentId !== undefined)
      return [
        draftOf(
          { ...watch.root, ...at },
          'agent.completed',
          // Agents that it started itself are not told of by its own turn.
          parentRunId === undefined ? watch.turnEnd('agent.completed') : { agentId: facts.agentId },
        ),
      ]
    return []
  })
  return [...watch.unwritten(), ...ended]
}
