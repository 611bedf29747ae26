import type { Anchor } from './detector.ts'

/** An anchor and the number its finder is told by. */
type OwnedAnchor = Anchor & { readonly owner: number }

/** Finds in one pass which of many literals occur in a text. */
type Prefilter = {
  /** The owners of all plausible anchors, each once; the same empty array when there is none. */
  readonly find: (text: string) => readonly number[]
}

/**
 * Every literal has at least three bytes, so one of its first two trigrams begins at an even place: reading
 * every second trigram through one table misses nothing. Bytes are compared with bit 5 set, which makes
 * letters caseless; the exact comparison comes only after a hit in the table.
 */
export function createPrefilter(anchors: readonly OwnedAnchor[]): Prefilter {
  const longest = Math.max(0, ...anchors.map((anchor) => anchor.text.length))
  const overlap = Math.min(longest, windowChars / 2)
  const scratch = new ArrayBuffer(windowChars * 3 + 8)
  const bytes = new Uint8Array(scratch)
  const words = new Uint32Array(scratch)
  const { bits, buckets } = buildTable(anchors)
  const owners = new Set<number>()

  const check = (bucket: readonly Entry[], at: number, length: number): void => {
    for (const entry of bucket) {
      const start = at - entry.offset
      const end = start + entry.needle.length
      if (start < 0 || end > length || !sameBytes(bytes, start, entry)) continue
      const { owner, plausible } = entry.anchor
      if (owners.has(owner)) continue
      if (plausible === undefined || plausible(bytes, end, length)) owners.add(owner)
    }
  }

  const scan = (length: number): void => {
    // The last word and the one after it are read whole.
    for (let i = 0; i < 8; i++) bytes[length + i] = 0
    let word = words[0]! | caseBits
    for (let i = 0; i < length; i += 4) {
      const next = words[(i >>> 2) + 1]! | caseBits
      const first = slot(word & 0xffffff)
      if ((bits[first >>> 3]! & (1 << (first & 7))) !== 0) check(buckets.get(first)!, i, length)
      const second = slot((word >>> 16) | ((next & 0xff) << 16))
      if ((bits[second >>> 3]! & (1 << (second & 7))) !== 0) check(buckets.get(second)!, i + 2, length)
      word = next
    }
  }

  return {
    find(text) {
      owners.clear()
      for (let from = 0; from < text.length; from += windowChars - overlap) {
        const piece = text.length <= windowChars ? text : text.slice(from, from + windowChars)
        scan(encoder.encodeInto(piece, bytes).written)
        if (from + windowChars >= text.length) break
      }
      return owners.size === 0 ? none : [...owners]
    },
  }
}

const encoder = new TextEncoder()
const none: readonly number[] = []
const windowChars = 32_768
const tableBits = 18
const caseBits = 0x20202020

type Entry = {
  readonly anchor: OwnedAnchor
  readonly needle: Uint8Array
  readonly fold: number
  /** Where in the literal the trigram begins. */
  readonly offset: number
}

function slot(trigram: number): number {
  return Math.imul(trigram, 0x9e3779b1) >>> (32 - tableBits)
}

/** One bit for each slot that has a bucket: few, so that a text rarely meets one by chance. */
function buildTable(anchors: readonly OwnedAnchor[]): { bits: Uint8Array; buckets: Map<number, Entry[]> } {
  const bits = new Uint8Array(1 << (tableBits - 3))
  const buckets = new Map<number, Entry[]>()
  const put = (trigram: number, entry: Entry): void => {
    const key = slot(trigram)
    bits[key >>> 3]! |= 1 << (key & 7)
    const bucket = buckets.get(key)
    if (bucket === undefined) buckets.set(key, [entry])
    else if (!bucket.includes(entry)) bucket.push(entry)
  }
  for (const anchor of anchors) {
    const needle = encoder.encode(anchor.text)
    const [a = 0, b = 0, c = 0, d] = needle.map((byte) => byte | 0x20)
    const entry = { anchor, needle, fold: anchor.fold === true ? 0x20 : 0 }
    put(a | (b << 8) | (c << 16), { ...entry, offset: 0 })
    const second = { ...entry, offset: 1 }
    for (const follower of d === undefined ? followers(anchor) : [d])
      put(b | (c << 8) | (follower << 16), second)
  }
  return { bits, buckets }
}

/** What may stand behind a literal of three bytes, with bit 5 set; the end of the text reads as zero. */
function followers(anchor: Anchor): Iterable<number> {
  if (anchor.next === undefined) return allFolded
  return new Set([0x20, ...encoder.encode(anchor.next).map((byte) => byte | 0x20)])
}

const allFolded = Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => (byte & 0x20) !== 0)

function sameBytes(bytes: Uint8Array, start: number, { needle, fold }: Entry): boolean {
  for (let i = 0; i < needle.length; i++) if ((bytes[start + i]! | fold) !== (needle[i]! | fold)) return false
  return true
}
