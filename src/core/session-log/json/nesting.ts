import { isRecord } from './value.ts'

/** How deep a session file may nest; deeper ones would overflow the stack of whoever walks or writes them. */
export const maxNesting = 200

/** The path of the first value nested deeper than the limit, or undefined. */
export function tooDeep(value: unknown): string[] | undefined {
  type Open = { readonly node: unknown; readonly depth: number; readonly key: string; readonly up?: Open }
  const open: Open[] = [{ node: value, depth: 0, key: '' }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { node, depth } = next
    if (!Array.isArray(node) && !isRecord(node)) continue
    if (depth > maxNesting) return pathTo(next)
    for (const key of Object.keys(node)) {
      const child = (node as Record<string, unknown>)[key]
      if (typeof child === 'object' && child !== null)
        open.push({ node: child, depth: depth + 1, key, up: next })
    }
  }
  return undefined
}

function pathTo(end: { readonly key: string; readonly up?: unknown }): string[] {
  type Step = { readonly key: string; readonly up?: Step }
  const steps: string[] = []
  for (let step = end as Step; step.up; step = step.up) steps.push(step.key)
  return steps.reverse()
}
