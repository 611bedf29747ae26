import type { ExplanationView, SessionView } from '../../contract/session-views.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Runtime } from '../../runtime/runtime.ts'

/** Why a session of our own agents stands as it does: nothing of it is guessed, its runs say it. */
export function explainOwn(
  session: SessionView,
  { runtime, clock }: { readonly runtime: Runtime; readonly clock: Clock },
): ExplanationView {
  const runs = runtime.runs().filter(({ root }) => root.sessionId === session.id)
  return {
    session_id: session.session_id,
    name: session.friendly_name ?? session.name,
    status: session.status,
    activity: session.activity,
    health: session.health,
    waiting_for: session.waiting_for,
    expires_in_ms: null,
    signals: runs.map(({ agent, parent, startedMs, runId }) => ({
      signal: 'run',
      source: 'runtime',
      age_ms: Math.max(0, clock.now() - startedMs),
      weight: 1,
      says: `${agent.name}${parent ? ` works for ${parent.agent.name}` : ' works'} (${runId})`,
      counted: true,
    })),
    would_change: changes(session),
  }
}

function changes({ status, session_id }: SessionView): string[] {
  if (status === 'idle') return ['words would make it running; its end is said with sm complete or sm kill']
  if (status === 'waiting_input') return [`a decision would let it go on: sm approve ${session_id}`]
  return status === 'running' ? ['the end of its runs would make it idle'] : []
}
