import type { Draft } from '../contract/event.ts'
import { statusOf } from '../contract/status-phrases.ts'
import { hasEnded, type OpenSpan, type SessionState } from '../core/session/state.ts'
import { forcedEnding } from '../core/trace/span-endings.ts'
import type { Engine } from '../engine/engine.ts'
import { draftOf } from '../engine/sessions/drafts.ts'
import { sessionRoot } from './session-root.ts'

/** Why a run failed that nobody went on with. */
export const stopped = 'Muster was stopped while it worked (runtime.on_restart)'
const interrupted = 'Muster was stopped; whether it took effect is not known'

/** The agent of a run that is open. */
export const agentOf = ({ facts }: OpenSpan): string =>
  typeof facts['agentId'] === 'string' ? facts['agentId'] : 'agent'

/** A run that nobody goes on with has failed, and all that was open below it. */
export async function failLeft(engine: Engine, state: Readonly<SessionState>, span: OpenSpan): Promise<void> {
  await engine.perform([...endsBelow(state, span), ...failed(state, span, stopped)])
}

/** What was under way below a run is over, before the run itself goes on. */
export async function closeCutOff(
  engine: Engine,
  state: Readonly<SessionState>,
  span: OpenSpan,
): Promise<void> {
  await engine.perform(endsBelow(state, span))
}

/** A session in which nothing runs is idle, whatever it was when Muster was stopped. */
export async function settle(engine: Engine, { sessionId }: Readonly<SessionState>): Promise<void> {
  const now = engine.session(sessionId)
  const root = now && !hasEnded(now) && now.lifecycle !== 'idle' ? sessionRoot(now, 'muster') : undefined
  if (root && now)
    await engine.perform([draftOf(root, 'session.state.changed', { from: now.lifecycle, to: 'idle' })])
}

/** Ends of all that is open below a span, the deepest first: what began last is never above what began before. */
function endsBelow(state: Readonly<SessionState>, top: OpenSpan): Draft[] {
  const inside = new Set([top.spanId])
  const below = [...state.open.values()].filter(({ spanId, parentSpanId }) => {
    const isBelow = parentSpanId !== undefined && inside.has(parentSpanId)
    if (isBelow) inside.add(spanId)
    return isBelow
  })
  return below.toReversed().flatMap((span): Draft[] => {
    const { kind, facts } = span
    if (kind === 'agent') return failed(state, span, stopped)
    if (kind === 'session') return []
    const reason = interrupted
    const end = forcedEnding(kind, facts, { reason, cancelled: false })
    return [{ ...placeOf(state, span, 'muster'), ...end } as Draft]
  })
}

function failed(state: Readonly<SessionState>, span: OpenSpan, reason: string): Draft[] {
  const agentId = agentOf(span)
  const at = placeOf(state, span, agentId)
  return [
    draftOf(at, 'agent.status.changed', { agentId, ...statusOf.idle() }),
    draftOf(at, 'agent.failed', { agentId, reason }),
  ]
}

function placeOf({ sessionId }: Readonly<SessionState>, span: OpenSpan, actor: string) {
  const { kind: _kind, facts: _facts, ...ids } = span
  return { ...ids, sessionId, actor }
}
