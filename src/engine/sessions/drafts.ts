import type { By, Draft, EventType, PayloadOf } from '../../contract/event.ts'
import type { RunId, SessionId, SpanId, TraceId } from '../../contract/ids.ts'
import type { Asker } from '../../contract/principal.ts'
import type { SessionState } from '../../core/session/state.ts'

/** Where the events of one session belong. */
export type Root = {
  readonly sessionId: SessionId
  readonly traceId: TraceId
  /** The run and the span that are current. */
  readonly runId: RunId
  readonly spanId: SpanId
  readonly actor: string
  /** Who asked for what is said here; left out for what the daemon does by itself. */
  readonly by?: By
}

type More = {
  readonly parentSpanId?: SpanId
  readonly parentRunId?: RunId
  readonly timestamp?: string
  readonly taskId?: string
}

/** An event at its place: on the session's own span, unless another is named. */
export const draftOf = <T extends EventType>(place: Root & More, type: T, payload: PayloadOf<T>): Draft =>
  ({ ...place, type, payload }) as Draft

/** A place for what somebody asked for, and for nothing that follows from it. */
export const askedBy = <P extends Root>(place: P, { by }: Asker): P => ({ ...place, by })

/** Where the events of an open session belong. */
export function sessionRoot(state: Readonly<SessionState>, actor: string): Root | undefined {
  const span = [...state.open.values()].find(({ kind }) => kind === 'session')
  if (!span) return undefined
  const { traceId, runId, spanId } = span
  return { sessionId: state.sessionId, traceId, runId, spanId, actor }
}
