import { type Draft, type ProducerStamp, schemaVersion } from '../contract/event.ts'
import type { EventId } from '../contract/ids.ts'
import type { BlobRef } from '../contract/values.ts'

/** Texts longer than this leave the line and become blobs. */
export const inlineLimit = 16 * 1024

export type Stamp = {
  readonly seq: number
  readonly id: EventId
  readonly recordedAt: string
  readonly producer?: ProducerStamp | undefined
  readonly redacted: readonly string[]
}

/**
 * The line of the journal for a draft. `seq` stands first so that a scan of the file need not parse the line,
 * and `payload` last so that nothing a caller wrote stands before the type.
 */
export function stamp(draft: Draft, given: Stamp, putBlob: (text: string) => BlobRef): string {
  // One literal with every field: what is undefined is not written, and all events share one hidden shape.
  const event = {
    seq: given.seq,
    id: given.id,
    traceId: draft.traceId,
    spanId: draft.spanId,
    parentSpanId: draft.parentSpanId,
    sessionId: draft.sessionId,
    runId: draft.runId,
    taskId: draft.taskId,
    actor: draft.actor,
    type: draft.type,
    workflowId: draft.workflowId,
    phase: draft.phase,
    parentRunId: draft.parentRunId,
    causeId: draft.causeId,
    timestamp: draft.timestamp ?? given.recordedAt,
    recordedAt: given.recordedAt,
    schemaVersion,
    producer: given.producer,
    redacted: given.redacted.length > 0 ? given.redacted : undefined,
    payload: draft.payload,
  }
  const line = JSON.stringify(event)
  return line.length > inlineLimit
    ? JSON.stringify({ ...event, payload: externalise(draft.payload, putBlob) })
    : line
}

function externalise(value: unknown, putBlob: (text: string) => BlobRef): unknown {
  if (typeof value === 'string') return value.length > inlineLimit ? putBlob(value) : value
  if (Array.isArray(value)) return value.map((item) => externalise(item, putBlob))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, externalise(item, putBlob)]))
}
