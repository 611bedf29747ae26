import { isRecord, type JsonRecord } from './value.ts'

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
