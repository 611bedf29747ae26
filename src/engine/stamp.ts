import { type AgentEvent, type Draft, type ProducerStamp, schemaVersion } from '../contract/event.ts'
import type { EventId } from '../contract/ids.ts'
import type { BlobRef } from '../contract/values.ts'
import type { StoredEvent } from '../ports/journal.ts'

/** Texts longer than this leave the line and become blobs. */
export const inlineLimit = 16 * 1024

export type Stamp = {
  readonly seq: number
  readonly id: EventId
  readonly recordedAt: string
  readonly producer?: ProducerStamp | undefined
  readonly redacted: readonly string[]
}

/** Makes a draft a line of the journal. `seq` stands first so that a scan of the file need not parse the line. */
export function stamp(draft: Draft, given: Stamp, putBlob: (text: string) => BlobRef): StoredEvent {
  const event: Record<string, unknown> = {
    seq: given.seq,
    id: draft.id ?? given.id,
    traceId: draft.traceId,
    spanId: draft.spanId,
  }
  if (draft.parentSpanId !== undefined) event['parentSpanId'] = draft.parentSpanId
  event['sessionId'] = draft.sessionId
  event['runId'] = draft.runId
  if (draft.taskId !== undefined) event['taskId'] = draft.taskId
  event['actor'] = draft.actor
  event['type'] = draft.type
  if (draft.workflowId !== undefined) event['workflowId'] = draft.workflowId
  if (draft.phase !== undefined) event['phase'] = draft.phase
  if (draft.parentRunId !== undefined) event['parentRunId'] = draft.parentRunId
  if (draft.causeId !== undefined) event['causeId'] = draft.causeId
  event['timestamp'] = draft.timestamp ?? given.recordedAt
  event['recordedAt'] = given.recordedAt
  event['schemaVersion'] = schemaVersion
  if (given.producer) event['producer'] = given.producer
  if (given.redacted.length > 0) event['redacted'] = given.redacted
  event['payload'] = draft.payload
  let line = JSON.stringify(event)
  if (line.length > inlineLimit) {
    event['payload'] = externalise(draft.payload, putBlob)
    line = JSON.stringify(event)
  }
  return { seq: given.seq, line, event: event as unknown as AgentEvent }
}

function externalise(value: unknown, putBlob: (text: string) => BlobRef): unknown {
  if (typeof value === 'string') return value.length > inlineLimit ? putBlob(value) : value
  if (Array.isArray(value)) return value.map((item) => externalise(item, putBlob))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, externalise(item, putBlob)]))
}
