import type { ZodError } from 'zod'
import { accepts } from '../contract/accepts.ts'
import { AppError } from '../contract/errors.ts'
import { catalogue, type Draft, DraftEnvelope, type EventType, eventTypes } from '../contract/event.ts'

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
  if (!envelope.success) throw invalid('the event does not fit', envelope.error)
  const payload = catalogue[envelope.data.type].payload.safeParse(envelope.data.payload)
  if (!payload.success)
    throw invalid(`the payload of ${envelope.data.type} does not fit`, payload.error, 'payload')
  return { ...envelope.data, payload: payload.data } as Draft
}

function invalid(what: string, error: ZodError, root?: string): AppError {
  const issues = error.issues.slice(0, 5).map((issue) => {
    const path = [...(root ? [root] : []), ...issue.path].join('.')
    return path ? `${path}: ${issue.message}` : issue.message
  })
  return new AppError('invalid', `${what}: ${issues.join('; ')}`, { details: issues })
}
