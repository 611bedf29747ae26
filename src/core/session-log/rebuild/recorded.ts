import type { EventOf, EventType } from '../../../contract/event.ts'
import { isRecord, type JsonRecord } from '../json/value.ts'
import { applyResidue, type Residue } from '../residue.ts'

/** What the rebuilding of a record needs of an event: when it was and what it says. */
export type Recorded<T extends EventType> = T extends EventType
  ? Pick<EventOf<T>, 'type' | 'timestamp' | 'payload'>
  : never

/** What an import keeps in `raw`: the place of a record in its list, and what its events do not hold. */
export type RawRecord = Residue & {
  readonly index?: number
  /** Only on the session: which format the file was in. */
  readonly format?: 'std-001' | 'std-008'
}

export const rawOf = (payload: { readonly raw?: JsonRecord | undefined }): RawRecord =>
  (payload.raw ?? {}) as RawRecord

/** A rebuilt record with what its import kept put back. */
export function restored<T extends object>(rebuilt: T, raw: RawRecord): T {
  return applyResidue(rebuilt as JsonRecord, raw) as T
}

/** Imported records in the order of their file; recorded ones as they came. */
export function inFileOrder<T>(items: readonly T[], indexOf: (item: T) => number | undefined): T[] {
  return items
    .map((item, position) => ({ item, at: indexOf(item) ?? position, position }))
    .sort((a, b) => a.at - b.at || a.position - b.position)
    .map(({ item }) => item)
}

/** A text from a value of an event that may be any JSON. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  const message = isRecord(value) ? value['message'] : undefined
  return typeof message === 'string' ? message : (JSON.stringify(value) ?? '')
}
