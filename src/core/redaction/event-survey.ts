import type { KeyBook, KeyKind } from './key-book.ts'

/** Deeper values are cut off: no honest event nests so far, and the walk must not exhaust the stack. */
export const maxDepth = 256

/** What the walk over an event tells: enough to leave most events alone. */
type Survey = {
  /** All strings in order, without a separator: a known value split over several of them shows. */
  joined: string
  /** The same strings, listed only when asked for. */
  leaves: string[]
  /** A key calls for a closer look. */
  flagged: boolean
}

/** The walk every event goes through: it copies nothing and hands out the same survey each time. */
export function createSurvey(keys: KeyBook, withLeaves: boolean): (value: unknown) => Survey {
  const survey: Survey = { joined: '', leaves: [], flagged: false }
  const take = (text: string): void => {
    survey.joined += text
    if (withLeaves) survey.leaves.push(text)
  }
  const visit = (node: object, depth: number): void => {
    if (depth > maxDepth) survey.flagged = true
    else if (Array.isArray(node)) {
      for (const item of node) {
        if (typeof item === 'string') take(item)
        else if (typeof item === 'object' && item !== null) visit(item, depth + 1)
      }
    } else visitObject(node as Record<string, unknown>, depth)
  }
  const visitObject = (node: Record<string, unknown>, depth: number): void => {
    for (const key in node) {
      const item = node[key]
      const kind = keys.kind(key)
      if (kind !== 'plain' && isFlagged(kind, item, node)) survey.flagged = true
      if (typeof item === 'string') take(item)
      else if (typeof item === 'object' && item !== null) visit(item, depth + 1)
    }
  }
  const isFlagged = (kind: KeyKind, item: unknown, node: Record<string, unknown>): boolean => {
    if (kind === 'secret') return true
    if (kind === 'pair-value') return typeof item === 'string' && namesSensitive(node, keys)
    return typeof item === 'string' ? item !== '' : typeof item === 'object'
  }
  return (value) => {
    survey.joined = ''
    survey.leaves = []
    survey.flagged = false
    if (typeof value === 'string') take(value)
    else if (typeof value === 'object' && value !== null) visit(value, 0)
    return survey
  }
}

/** `{ name: 'API_KEY', value: '…' }`: the name of the value stands in a field of its own. */
export function namesSensitive(node: Record<string, unknown>, keys: KeyBook): boolean {
  for (const field of ['name', 'key', 'header']) {
    const name = node[field]
    if (typeof name === 'string' && name.length <= 64 && keys.kind(name) === 'sensitive') return true
  }
  return false
}
