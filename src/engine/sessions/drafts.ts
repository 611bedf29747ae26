import type { Draft, EventType, PayloadOf } from '../../contract/event.ts'
import type { RunId, SessionId, SpanId, TraceId } from '../../contract/ids.ts'

/** Where the events of one session belong. */
export type Root = {
  readonly sessionId: SessionId
  readonly traceId: TraceId
  /** The run and the span that are current. */
  readonly runId: RunId
  readonly spanId: SpanId
  readonly actor: string
}

type More = {
  readonly spanId?: SpanId
  readonly parentSpanId?: SpanId
  readonly runId?: RunId
  readonly parentRunId?: RunId
  readonly timestamp?: string
  readonly taskId?: string
}

/** An event of a session; it stands on the session's own span unless another is named. */
export function draftOf<T extends EventType>(
  root: Root,
  type: T,
  payload: PayloadOf<T>,
  more: More = {},
): Draft {
  return {
    sessionId: root.sessionId,
    traceId: root.traceId,
    runId: root.runId,
    spanId: root.spanId,
    actor: root.actor,
    ...more,
    type,
    payload,
  } as Draft
}
