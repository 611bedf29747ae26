import type { AgentEvent } from '../../../contract/event.ts'
import { BlobRef } from '../../../contract/values.ts'
import { isRecord, type JsonRecord, setField } from '../json/value.ts'

/** Gives the text a blob reference stands for. */
export type Resolve = (ref: BlobRef) => string

/** The event with every blob reference in its payload replaced by its text; without a resolver, by its preview. */
export function resolveBlobs(event: AgentEvent, resolve: Resolve = shortened): AgentEvent {
  const payload = resolved(event.payload, resolve)
  return payload === event.payload ? event : ({ ...event, payload } as AgentEvent)
}

const shortened: Resolve = ({ preview, bytes }) => `${preview}… [${bytes} bytes]`

/** A copy only where something changed: most events have no blob at all. */
function resolved(value: unknown, resolve: Resolve): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => resolved(item, resolve))
    return items.some((item, i) => item !== value[i]) ? items : value
  }
  if (!isRecord(value)) return value
  if (Object.hasOwn(value, '$blob')) {
    const ref = BlobRef.safeParse(value)
    if (ref.success) return resolve(ref.data)
  }
  const copy: JsonRecord = {}
  let isChanged = false
  for (const [key, inner] of Object.entries(value)) {
    const text = resolved(inner, resolve)
    isChanged ||= text !== inner
    setField(copy, key, text)
  }
  return isChanged ? copy : value
}
