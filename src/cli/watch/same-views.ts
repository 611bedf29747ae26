type Fields = Readonly<Record<string, unknown>>

/** Whether two answers of the daemon say the same, field by field. */
export function sameViews(a: readonly Fields[], b: readonly Fields[]): boolean {
  return a === b || (a.length === b.length && a.every((one, i) => sameFields(one, b[i] ?? {})))
}

function sameFields(a: Fields, b: Fields): boolean {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => sameValue(a[name], b[name]))
}

function sameValue(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object') return false
  return JSON.stringify(a) === JSON.stringify(b)
}
