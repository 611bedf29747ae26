import type { Draft } from '../contract/event.ts'
import { hasEnded, type OpenSpan, type SessionState } from '../core/session/state.ts'
import type { Engine } from '../engine/engine.ts'
import { draftOf, type Root } from '../engine/sessions/drafts.ts'
import { sessionRoot } from './session-root.ts'

const interrupted = 'Muster was stopped; whether it took effect is not known'

/** The agent of a run that is open. */
export const agentOf = ({ facts }: OpenSpan): string =>
  typeof facts['agentId'] === 'string' ? facts['agentId'] : 'agent'

/** Runs that nobody goes on with have failed, with all that was open below them. */
export async function failLeft(
  engine: Engine,
  state: Readonly<SessionState>,
  spans: readonly OpenSpan[],
): Promise<void> {
  for (const span of spans) {
    const agentId = agentOf(span)
    const reason = 'Muster was stopped while it worked (runtime.on_restart)'
    await engine.perform([draftOf(rootOf(state, span, agentId), 'agent.failed', { agentId, reason })])
  }
  const now = engine.session(state.sessionId)
  const root = now && !hasEnded(now) && now.lifecycle !== 'idle' ? sessionRoot(now, 'muster') : undefined
  if (root && now)
    await engine.perform([draftOf(root, 'session.state.changed', { from: now.lifecycle, to: 'idle' })])
}

/** Calls and requests that were cut off have ended, before the run they belong to goes on. */
export async function closeCutOff(
  engine: Engine,
  state: Readonly<SessionState>,
  spans: readonly OpenSpan[],
): Promise<void> {
  for (const span of spans) {
    const end = cutOffEnd(rootOf(state, span, 'muster'), span)
    if (end) await engine.perform([end])
  }
}

const rootOf = ({ sessionId }: Readonly<SessionState>, span: OpenSpan, actor: string): Root => ({
  sessionId,
  traceId: span.traceId,
  runId: span.runId,
  spanId: span.spanId,
  actor,
})

function cutOffEnd(at: Root, { kind, facts }: OpenSpan): Draft | undefined {
  if (kind === 'tool') {
    const which = { callId: String(facts['callId']), tool: String(facts['tool']) }
    return draftOf(at, 'tool.call.failed', { ...which, error: interrupted, reason: interrupted })
  }
  if (kind === 'llm')
    return draftOf(at, 'llm.request.failed', { model: String(facts['model']), error: interrupted })
  return kind === 'task' ? draftOf(at, 'task.cancelled', { reason: interrupted }) : undefined
}
