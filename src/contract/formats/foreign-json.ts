/** An object of another program's making, whose fields are read one by one. */
export type Foreign = Readonly<Record<string, unknown>>

export function isForeign(value: unknown): value is Foreign {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object, or an empty one: what is missing further inside is then missing too, and nothing throws. */
export const foreign = (value: unknown): Foreign => (isForeign(value) ? value : {})

export const foreignList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** A text that says something. */
export const foreignText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** A whole count; what other programs write as a float, a negative or a text is no count. */
export const foreignCount = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined

export const foreignNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined

/** The value of a text; nothing when it is no JSON, or was cut off. */
export function foreignJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** The object on one line of a file. A line that is cut off or no object yields nothing. */
export function foreignLine(line: string): Foreign | undefined {
  const value = foreignJson(line)
  return isForeign(value) ? value : undefined
}

/** The last moment that a date can name, in milliseconds. */
export const lastMoment = 8.64e15

/** A time written as ISO-8601 text or as milliseconds. */
export function foreignTime(value: unknown): number | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : foreignNumber(value)
  return time !== undefined && time >= 0 && time <= lastMoment ? time : undefined
}

/** A copy without fields that are undefined, so that what was not told stays absent. */
export function told<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(kept) as { [K in keyof T]: Exclude<T[K], undefined> }
}
