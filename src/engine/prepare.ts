import type { ZodError } from 'zod'
import { accepts } from '../contract/accepts.ts'
import { AppError } from '../contract/errors.ts'
import {
  type By,
  catalogue,
  type Draft,
  DraftEnvelope,
  type EventType,
  eventTypes,
  type ProducerStamp,
  schemaVersion,
} from '../contract/event.ts'
import type { EventId } from '../contract/ids.ts'
import type { BlobRef } from '../contract/values.ts'

/** What redaction says of a value: the value to keep, which paths it touched, and how often each rule struck. */
export type Redacted<T> = {
  readonly value: T
  readonly paths: readonly string[]
  readonly counts: Readonly<Record<string, number>>
}

/** What of a draft is words: ids, types and times have fixed forms in which no secret fits. */
export type Words = Pick<Draft, 'actor' | 'taskId' | 'workflowId' | 'phase' | 'payload'>

/** Takes secrets out of words; synchronous for a few, elsewhere for many. */
export type Redact = (words: Words) => Redacted<Words> | Promise<Redacted<Words>>

export const wordsOf = ({ actor, taskId, workflowId, phase, payload }: Draft): Words => ({
  actor,
  taskId,
  workflowId,
  phase,
  payload,
})

const fits = accepts(DraftEnvelope)
const payloadFits = new Map(eventTypes.map((type) => [type, accepts(catalogue[type].payload)]))

/** Checks a proposed event against the contract; own input is parsed strictly. */
export function parseDraft(item: unknown): Draft {
  if (fits(item)) {
    const draft = item as Draft
    if (payloadFits.get(draft.type as EventType)?.(draft.payload)) return draft
  }
  return parseSlowly(item)
}

/** Says what is wrong, by the schema itself. */
function parseSlowly(item: unknown): Draft {
  const envelope = DraftEnvelope.safeParse(item)
  if (!envelope.success) throw invalid('the event is not valid', envelope.error)
  const payload = catalogue[envelope.data.type].payload.safeParse(envelope.data.payload)
  if (!payload.success)
    throw invalid(`the payload of ${envelope.data.type} is not valid`, payload.error, 'payload')
  return { ...envelope.data, payload: payload.data } as Draft
}

function invalid(what: string, error: ZodError, root?: string): AppError {
  const issues = error.issues.slice(0, 5).map((issue) => {
    const path = [...(root ? [root] : []), ...issue.path].join('.')
    return path ? `${path}: ${issue.message}` : issue.message
  })
  return new AppError('invalid', `${what}: ${issues.join('; ')}`, { details: issues })
}

/** Texts longer than this leave the line and become blobs. */
const inlineLimit = 16 * 1024

type Stamp = {
  readonly seq: number
  readonly id: EventId
  readonly recordedAt: string
  readonly by: By
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
    by: given.by,
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
