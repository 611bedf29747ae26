/** A JSON object whose fields are read one by one. */
export type JsonRecord = Record<string, unknown>

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Sets an own field; plain assignment of `__proto__` would change the prototype instead. */
export function setField(record: JsonRecord, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(record, key, { value, enumerable: true, configurable: true, writable: true })
  else record[key] = value
}

/** Whether two JSON values are the same, without regard to the order of fields. */
export function sameJson(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true
  if (Array.isArray(left))
    return (
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((item, index) => sameJson(item, right[index]))
    )
  if (!isRecord(left) || !isRecord(right)) return false
  const keys = Object.keys(left)
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key], right[key]))
  )
}

/** A copy without fields that are undefined, so that what is absent in a file stays absent. */
export function compact<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(kept) as { [K in keyof T]: Exclude<T[K], undefined> }
}

/** A place in a JSON document; the path is only spelled when it is asked for. */
export type Place = { readonly parent?: Place; readonly key: string | number }

export const root: Place = { key: '' }
export const at = (parent: Place, key: string | number): Place => ({ parent, key })

/** The place at the end of a path. */
export const placeAt = (path: readonly (string | number)[]): Place => path.reduce(at, root)

/** The place as a JSON pointer (RFC 6901); the document itself is the empty text. */
export function pointerOf(place: Place): string {
  const steps: string[] = []
  for (let step = place; step.parent; step = step.parent) steps.push(escapeStep(step.key))
  return steps
    .reverse()
    .map((step) => `/${step}`)
    .join('')
}

/** A JSON pointer from the steps of a path. */
export const pointer = (steps: readonly PropertyKey[]): string =>
  steps.map((step) => `/${escapeStep(String(step))}`).join('')

/** The steps of a JSON pointer. */
export const stepsOf = (path: string): string[] =>
  path
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))

const escapeStep = (step: string | number): string => String(step).replaceAll('~', '~0').replaceAll('/', '~1')

/** How deep a session file may nest; deeper ones would overflow the stack of whoever walks or writes them. */
export const maxNesting = 200

type Open = { readonly node: object; readonly depth: number; readonly key: string; readonly up?: Open }

/** The path of the first value nested deeper than the limit, or undefined. */
export const tooDeep = (value: unknown): string[] | undefined =>
  firstPath(value, ({ depth }) => depth > maxNesting)

/** Whether any object has a field named `__proto__`, which JSON allows and plain copies obey. */
export const hasPrototypeKey = (value: unknown): boolean =>
  firstPath(value, ({ node }) => Object.hasOwn(node, '__proto__')) !== undefined

/** A copy of a value without fields named `__proto__`; calls back with the path of each. */
export function withoutPrototypeKeys(value: unknown, dropped: (path: readonly string[]) => void): unknown {
  const copy = (node: unknown, path: readonly string[]): unknown => {
    if (Array.isArray(node)) return node.map((item, i) => copy(item, [...path, String(i)]))
    if (!isRecord(node)) return node
    const kept: JsonRecord = {}
    for (const [key, child] of Object.entries(node))
      if (key === '__proto__') dropped([...path, key])
      else kept[key] = copy(child, [...path, key])
    return kept
  }
  return copy(value, [])
}

// A list instead of recursion: what is too deep to walk must still be found.
function firstPath(value: unknown, found: (open: Open) => boolean): string[] | undefined {
  const open: Open[] = isNode(value) ? [{ node: value, depth: 0, key: '' }] : []
  for (let next = open.pop(); next; next = open.pop()) {
    if (found(next)) return pathTo(next)
    for (const key of Object.keys(next.node)) {
      const child = (next.node as JsonRecord)[key]
      if (isNode(child)) open.push({ node: child, depth: next.depth + 1, key, up: next })
    }
  }
  return undefined
}

const isNode = (value: unknown): value is object => typeof value === 'object' && value !== null

function pathTo(end: Open): string[] {
  const steps: string[] = []
  for (let step = end; step.up; step = step.up) steps.push(step.key)
  return steps.reverse()
}
