import type { KeyBook } from './key-book.ts'

/** All strings of a value in order, joined without a separator, and whether a key calls for a closer look. */
export type Survey = { joined: string; leaves: string[]; flagged: boolean }

/** Deeper values are cut off: no honest event nests so far, and the walk must not exhaust the stack. */
export const maxDepth = 256

/** The walk over every event: it copies nothing. Leaves are listed only when asked for. */
export function surveyEvent(value: unknown, keys: KeyBook, withLeaves: boolean): Survey {
  const survey: Survey = { joined: '', leaves: [], flagged: false }
  const visit = (node: unknown, depth: number): void => {
    if (typeof node === 'string') {
      survey.joined += node
      if (withLeaves) survey.leaves.push(node)
    } else if (typeof node !== 'object' || node === null) return
    else if (depth > maxDepth) survey.flagged = true
    else if (Array.isArray(node)) for (const item of node) visit(item, depth + 1)
    else visitObject(node as Record<string, unknown>, depth)
  }
  const visitObject = (node: Record<string, unknown>, depth: number): void => {
    for (const key in node) {
      const child = node[key]
      const kind = keys.kind(key)
      if (kind !== 'plain' && calls(kind, node, child)) survey.flagged = true
      if (typeof child === 'string') {
        survey.joined += child
        if (withLeaves) survey.leaves.push(child)
      } else if (typeof child === 'object') visit(child, depth + 1)
    }
  }
  const calls = (kind: string, node: Record<string, unknown>, child: unknown): boolean =>
    kind === 'secret' ||
    (kind === 'sensitive' && ((typeof child === 'string' && child !== '') || typeof child === 'object')) ||
    (kind === 'pair-value' && typeof child === 'string' && namesSensitive(node, keys))
  visit(value, 0)
  return survey
}

/** `{ name: 'API_KEY', value: '…' }`: the name of the value stands in a field of its own. */
export function namesSensitive(node: Record<string, unknown>, keys: KeyBook): boolean {
  for (const field of ['name', 'key', 'header']) {
    const name = node[field]
    if (typeof name === 'string' && name.length <= 64 && keys.kind(name) === 'sensitive') return true
  }
  return false
}
