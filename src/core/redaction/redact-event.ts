import { keyLineSpans } from './private-key.ts'
import { isDirectoryName, nameStrength, wordsOf } from './secret-names.ts'
import { marker, type Span, settleSpans } from './secret-spans.ts'
import type { TextScanner } from './text-scanner.ts'

/** The class of a value that was replaced because of the name of its field. */
export const fieldClass = 'sensitive-field'

/** The class of what stood deeper than an event may nest. */
export const depthClass = 'too-deep'

/** What one pass over an event found. */
export type Findings = { readonly paths: Set<string>; readonly counts: Record<string, number> }

/** A copy with every secret replaced; branches without one are shared with the original. */
export function redactEvent(
  value: unknown,
  parts: { scanner: TextScanner; keys: KeyKinds },
  findings: Findings,
): unknown {
  const { scanner, keys } = parts
  const split = splitKnownValues(value, scanner)
  let leaf = 0

  const replaceWhole = (text: string, name: string, place: Place): string => {
    leaf++
    if (text === '' || scanner.isMarker(text) || scanner.isAllowed(text) || isDirectoryName(name, text))
      return text
    return replaced(marker(fieldClass), fieldClass, place)
  }

  const replaced = (text: string, secretClass: string, place: Place): string => {
    findings.counts[secretClass] = (findings.counts[secretClass] ?? 0) + 1
    findings.paths.add(pointer(place))
    return text
  }

  const redactText = (text: string, place: Place): string => {
    const out = scanner.redact(text, findings.counts, [...split[leaf++]!, ...(place.spans ?? [])])
    if (out !== text) findings.paths.add(pointer(place))
    return out
  }

  const visit = (node: unknown, place: Place): unknown => {
    if (typeof node === 'string') {
      return place.secretName === undefined
        ? redactText(node, place)
        : replaceWhole(node, place.secretName, place)
    }
    if (typeof node !== 'object' || node === null) return node
    if (place.depth > maxDepth) return replaced(marker(depthClass), depthClass, place)
    return Array.isArray(node) ? visitArray(node, place) : visitObject(node as Record<string, unknown>, place)
  }

  const visitArray = (items: readonly unknown[], place: Place): unknown => {
    let changed = false
    const keyLines = keyLineSpans(items)
    const out = items.map((item, index) => {
      const flag = index > 0 ? secretFlag(items[index - 1]) : undefined
      const isValue = flag !== undefined && typeof item === 'string' && !item.startsWith('-')
      const secretName = isValue ? flag : place.secretName
      const next = visit(item, child(place, { key: String(index), secretName, spans: keyLines.get(index) }))
      if (next !== item) changed = true
      return next
    })
    return changed ? out : items
  }

  const visitObject = (node: Record<string, unknown>, place: Place): unknown => {
    let changed = false
    const taken = new Set<string>()
    const inherited = place.secretName !== undefined && isSchema(node) ? undefined : place.secretName
    const entries = Object.entries(node).map(([key, item]): [string, unknown] => {
      const kind = keys.kind(key)
      const clean = kind === 'secret' ? unused(scanner.redact(key, findings.counts), taken) : key
      taken.add(clean)
      const sensitive = kind === 'sensitive' || (kind === 'pair-value' && namesSensitive(node, keys))
      const at = child(place, { key: clean, secretName: sensitive ? key : inherited })
      if (clean !== key) findings.paths.add(pointer(at))
      const next = visit(item, at)
      if (next !== item || clean !== key) changed = true
      return [clean, next]
    })
    return changed ? Object.fromEntries(entries) : node
  }

  return visit(value, { path: [], depth: 0, secretName: undefined })
}

type Place = Step & { readonly path: readonly string[]; readonly depth: number }

type Step = {
  /** The name of the field that makes all strings from here on secrets. */
  readonly secretName: string | undefined
  /** What is known of a string from its neighbours. */
  readonly spans?: readonly Span[] | undefined
}

function child(place: Place, { key, ...step }: Step & { readonly key: string }): Place {
  return { ...step, path: [...place.path, key], depth: place.depth + 1 }
}

function pointer(place: Place): string {
  return place.path.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** For each string, in order, its part of the known values that reach over several strings. */
function splitKnownValues(value: unknown, scanner: TextScanner): Span[][] {
  const leaves: string[] = []
  listLeaves(value, leaves, 0)
  const spans = settleSpans(scanner.knownSpans(leaves.join('')), [])
  let next = 0
  let start = 0
  return leaves.map((text) => {
    const end = start + text.length
    while (next < spans.length && spans[next]!.end <= start) next++
    const parts: Span[] = []
    for (let i = next; i < spans.length && spans[i]!.start < end; i++) {
      const span = spans[i]!
      parts.push({ ...span, start: Math.max(span.start - start, 0), end: Math.min(span.end, end) - start })
    }
    start = end
    return parts
  })
}

function listLeaves(node: unknown, leaves: string[], depth: number): void {
  if (typeof node === 'string') leaves.push(node)
  else if (typeof node === 'object' && node !== null && depth <= maxDepth) {
    for (const item of Array.isArray(node) ? node : Object.values(node)) listLeaves(item, leaves, depth + 1)
  }
}

/** `['--password', 'hunter2']`: an argument list says in one item what the next one is. */
function secretFlag(item: unknown): string | undefined {
  if (typeof item !== 'string' || item.length > 64 || !/^--?[A-Za-z][\w-]*$/.test(item)) return undefined
  return nameStrength(item.replace(/^-+/, '')) === 'none' ? undefined : item
}

/** The description of a field called `password` holds no password. */
function isSchema(node: Record<string, unknown>): boolean {
  const { type } = node
  return (
    (typeof type === 'string' && /^(?:string|object|array|number|integer|boolean)$/.test(type)) ||
    '$ref' in node
  )
}

/** Two keys that were secrets of one class must stay two. */
function unused(key: string, taken: ReadonlySet<string>): string {
  let free = key
  for (let n = 2; taken.has(free); n++) free = `${key}#${n}`
  return free
}

/** Deeper values are cut off: no honest event nests so far, and the walk must not exhaust the stack. */
const maxDepth = 256

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
export function createSurvey(keys: KeyKinds, withLeaves: boolean): (value: unknown) => Survey {
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
function namesSensitive(node: Record<string, unknown>, keys: KeyKinds): boolean {
  for (const field of ['name', 'key', 'header']) {
    const name = node[field]
    if (typeof name === 'string' && name.length <= 64 && keys.kind(name) === 'sensitive') return true
  }
  return false
}

/** What a property name says about its value, and whether it is a secret itself. */
type KeyKind = 'plain' | 'sensitive' | 'pair-value' | 'secret'

/** Remembers the answer for each name: an event has few, and always the same. */
type KeyKinds = { readonly kind: (key: string) => KeyKind }

/** `extra` are further sensitive names; case and separators do not matter. */
export function createKeyKinds(scanner: TextScanner, extra: readonly string[]): KeyKinds {
  const own = new Set(extra.map((name) => wordsOf(name).join('')))
  const known = new Map<string, KeyKind>()
  const judge = (key: string): KeyKind => {
    if (scanner.spans(key).length > 0) return 'secret'
    if (nameStrength(key) !== 'none' || own.has(wordsOf(key).join(''))) return 'sensitive'
    return key === 'value' ? 'pair-value' : 'plain'
  }
  return {
    kind(key) {
      const kind = known.get(key)
      if (kind !== undefined) return kind
      // Keys made from data must not fill the memory, nor stay in it.
      if (known.size >= maxKeys) known.clear()
      const judged = judge(key)
      if (judged !== 'secret' && key.length <= maxKeyLength) known.set(key, judged)
      return judged
    },
  }
}

const maxKeys = 4096
const maxKeyLength = 128
