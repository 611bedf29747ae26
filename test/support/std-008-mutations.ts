type Node = Record<string, unknown> | unknown[]

/** Values that have no business where they are put. */
const oddities: readonly (() => unknown)[] = [
  () => null,
  () => '',
  () => 'completed',
  () => '__proto__',
  () => 0,
  () => -1,
  () => 1e308,
  () => 1_769_421_600,
  () => 3.7,
  () => true,
  () => [],
  () => {
    const empty: Record<string, unknown> = {}
    return empty
  },
  () => [null, 1, 'x', {}],
  () => ({ id: 'x', name: 'y' }),
  () => JSON.parse('{"__proto__":{"polluted":true},"constructor":1}') as unknown,
  () => '\ud800\u0000😀',
  () => 'x'.repeat(5000),
  () => '2026-13-45T99:99:99Z',
  () => nested(30),
  () => nested(1000),
]

function nested(depth: number): unknown {
  let value: unknown = 'deep'
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { inner: value }
  return value
}

/** Damages a copy of a JSON document in one to five places, as the numbers of `random` say. */
export function mutated(document: unknown, random: () => number): unknown {
  const copy = JSON.parse(JSON.stringify(document)) as Node
  const times = 1 + Math.floor(random() * 5)
  for (let i = 0; i < times; i++) mutateOnce(copy, random)
  return random() < 0.01 ? pick(oddities, random)() : copy
}

type Place = { readonly node: Node; readonly key: string }

function mutateOnce(root: Node, random: () => number): void {
  const places = allPlaces(root)
  if (places.length === 0) return
  const { node, key } = pick(places, random)
  const record = node as Record<string, unknown>
  const value = record[key]
  const kind = Math.floor(random() * 9)
  if (kind === 0) remove(node, key)
  else if (kind === 1) record[key] = pick(oddities, random)()
  else if (kind === 2) record[key] = retyped(value)
  else if (kind === 3 && Array.isArray(node)) node.push(JSON.parse(JSON.stringify(value ?? null)))
  else if (kind === 4 && Array.isArray(value)) value.length = Math.floor(random() * value.length)
  else if (kind === 5) swap({ node, key }, pick(places, random))
  else if (kind === 6) rename(record, key, random)
  else if (kind === 7 && Array.isArray(value)) value.reverse()
  else
    Object.defineProperty(record, '__proto__', {
      value: { x: 1 },
      enumerable: true,
      configurable: true,
      writable: true,
    })
}

function allPlaces(root: Node): Place[] {
  const places: Place[] = []
  const open: Node[] = [root]
  for (let node = open.pop(); node; node = open.pop())
    for (const key of Object.keys(node)) {
      places.push({ node, key })
      const child = (node as Record<string, unknown>)[key]
      if (typeof child === 'object' && child !== null && open.length < 5000) open.push(child as Node)
    }
  return places
}

function retyped(value: unknown): unknown {
  if (typeof value === 'string') return value.length
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return Object.fromEntries(value.entries())
  return value === null ? 'null' : JSON.stringify(value)
}

function swap(one: Place, other: Place): void {
  const [a, b] = [one.node as Record<string, unknown>, other.node as Record<string, unknown>]
  const value = JSON.stringify(a[one.key])
  const otherValue = JSON.stringify(b[other.key])
  // Copies, so that a value put inside itself does not make a ring.
  a[one.key] = otherValue === undefined ? null : JSON.parse(otherValue)
  b[other.key] = value === undefined ? null : JSON.parse(value)
}

function rename(record: Record<string, unknown>, key: string, random: () => number): void {
  if (Array.isArray(record)) return
  const names = ['id', 'type', 'title', 'status', 'content', 'name', `${key}_x`]
  record[pick(names, random)] = record[key]
  Reflect.deleteProperty(record, key)
}

function remove(node: Node, key: string): void {
  if (Array.isArray(node)) node.splice(Number(key), 1)
  else Reflect.deleteProperty(node, key)
}

const pick = <T>(items: readonly T[], random: () => number): T =>
  items[Math.floor(random() * items.length)] as T
