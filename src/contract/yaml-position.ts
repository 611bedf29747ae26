/** A place in a text file; lines and columns count from 1. */
export type Position = { readonly line: number; readonly column: number }

/** What a YAML text holds, or where it breaks; offsets count characters of the text. */
export type YamlContents = {
  readonly data: unknown
  readonly root: unknown
  readonly problems: readonly { readonly offset: number; readonly message: string }[]
}

/** The part of a parsed document that is looked at here, so that the parser itself stays outside. */
export type YamlDocument = {
  readonly contents: unknown
  readonly errors: readonly YamlError[]
  readonly warnings: readonly YamlError[]
  toJS(): unknown
}
type YamlError = { readonly code: string; readonly message: string; readonly pos: readonly [number, number] }

/** Takes the data out of a parsed document, with every problem of the text. */
export function contentsOf(document: YamlDocument): YamlContents {
  const problems = [...document.errors, ...document.warnings].map((error) => ({
    offset: error.pos[0],
    message: explain(error),
  }))
  if (problems.length > 0) return { data: undefined, root: document.contents, problems }
  try {
    return { data: document.toJS() ?? {}, root: document.contents, problems }
  } catch (error) {
    // An alias without an anchor, or one that multiplies the text beyond reason, shows only here.
    if (!(error instanceof ReferenceError)) throw error
    const offset = blamedAlias(document.contents) ?? 0
    return { data: undefined, root: document.contents, problems: [{ offset, message: error.message }] }
  }
}

/** Turns a character offset into a line and a column. */
export function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, Math.min(Math.max(offset, 0), text.length))
  return { line: before.split('\n').length, column: before.length - before.lastIndexOf('\n') }
}

/** Finds where the key or the value at a path begins; the nearest parent when the path goes further than the text. */
export function offsetOf(root: unknown, path: readonly PropertyKey[], part: 'key' | 'value'): number {
  let node = root
  let offset = startOf(root) ?? 0
  for (const [index, step] of path.entries()) {
    const found = childOf(node, step)
    if (found === undefined) return offset
    const isLast = index === path.length - 1
    // A key without a value has no place of its own in the text.
    const key = startOf(found.key)
    const value = startOf(found.value)
    offset = (isLast && part === 'value' ? (value ?? key) : (key ?? value)) ?? offset
    node = found.value
  }
  return offset
}

type Child = { readonly key: unknown; readonly value: unknown }

function childOf(node: unknown, step: PropertyKey): Child | undefined {
  const items = itemsOf(node)
  const pair = items.find((item) => isPair(item) && String(scalarOf(item.key)) === String(step))
  if (isPair(pair)) return pair
  const item = typeof step === 'number' ? items[step] : undefined
  return item === undefined || isPair(item) ? undefined : { key: undefined, value: item }
}

// The alias to blame is the first one whose anchor was not seen before it, else the first of all.
function blamedAlias(root: unknown): number | undefined {
  const anchors = new Set<unknown>()
  const aliases: { name: unknown; offset: number | undefined }[] = []
  const visit = (node: unknown): boolean => {
    if (!isObject(node)) return false
    if (isPair(node)) return visit(node.key) || visit(node.value)
    if ('source' in node && !('value' in node)) {
      aliases.push({ name: node.source, offset: startOf(node) })
      return !anchors.has(node.source)
    }
    if ('anchor' in node) anchors.add(node.anchor)
    return itemsOf(node).some(visit)
  }
  return (visit(root) ? aliases.at(-1) : aliases[0])?.offset
}

function explain(error: YamlError): string {
  if (error.code === 'DUPLICATE_KEY') return 'this key is written twice in one map'
  if (error.code === 'TAB_AS_INDENT') return 'tabs cannot indent YAML; use spaces'
  if (error.code === 'MULTIPLE_DOCS') return 'only one YAML document is read; remove the second ---'
  return error.message
}

function itemsOf(node: unknown): readonly unknown[] {
  return isObject(node) && 'items' in node && Array.isArray(node.items) ? node.items : []
}

function isPair(node: unknown): node is Child {
  return isObject(node) && 'key' in node && 'value' in node
}

function scalarOf(node: unknown): unknown {
  return isObject(node) && 'value' in node ? node.value : undefined
}

function startOf(node: unknown): number | undefined {
  if (!isObject(node) || !('range' in node) || !Array.isArray(node.range)) return undefined
  const start: unknown = node.range[0]
  return typeof start === 'number' ? start : undefined
}

function isObject(node: unknown): node is object {
  return typeof node === 'object' && node !== null
}
