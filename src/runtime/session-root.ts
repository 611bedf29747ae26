import type { SessionState } from '../core/session/state.ts'
import type { Root } from '../engine/sessions/drafts.ts'

/** Where the events of an open session belong. */
export function sessionRoot(state: Readonly<SessionState>, actor: string): Root | undefined {
  const span = [...state.open.values()].find(({ kind }) => kind === 'session')
  if (!span) return undefined
  const { traceId, runId, spanId } = span
  return { sessionId: state.sessionId, traceId, runId, spanId, actor }
}
