import { type Place, pointerOf } from '../json/pointer.ts'

/** What the reader can do to a file, by name. */
export const repairCodes = [
  'renamed', // a field stood under another name
  'filled', // a missing field was filled in
  'translated', // a value was put into the format's words
  'converted', // a value was put into the format's type
  'set_aside', // a value that does not fit was kept under original_…
  'dropped', // something that holds no information, or is unsafe, was left out
  'lifted', // an older shape was lifted to the present one
  'moved', // a value stood in another place
  'linked', // a link between records was made or mended
  'made', // a record that others point at was made
  'downgraded', // a collaboration that has no trace of one became a single session
] as const
export type RepairCode = (typeof repairCodes)[number]

/** One repair: where, which kind, what was found and what was done. */
export type Repair = { readonly path: string; readonly code: RepairCode; readonly message: string }

/** Notes repairs as they are made. */
export type RepairLog = (place: Place, code: RepairCode, message: string) => void

export function collectRepairs(): { log: RepairLog; repairs: Repair[] } {
  const repairs: Repair[] = []
  return { repairs, log: (place, code, message) => repairs.push({ path: pointerOf(place), code, message }) }
}

/** A value as a repair's message shows it. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  const kind = Array.isArray(value)
    ? 'a list'
    : typeof value === 'object' && value !== null
      ? 'an object'
      : ''
  if (kind) return kind
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}
