import type { Anchor } from './detector.ts'

/** An anchor and the number its finder is told by. */
export type OwnedAnchor = Anchor & { readonly owner: number }

/** Finds in one pass which of many literals occur in a text. */
export type Prefilter = {
  /** The owners of all plausible anchors, each once; the same empty array when there is none. */
  readonly find: (text: string) => readonly number[]
}

/**
 * Every literal has at least three bytes, so one of its first two trigrams begins at an even place: reading
 * every second trigram through one table of bits misses nothing. Bytes are compared with bit 5 set, which
 * makes letters caseless; the exact comparison comes only after a hit in the table.
 */
export function createPrefilter(anchors: readonly OwnedAnchor[]): Prefilter {
  const longest = Math.max(0, ...anchors.map((anchor) => anchor.text.length))
  const overlap = Math.min(longest, windowChars / 2)
  const scratch = new ArrayBuffer(windowChars * 3 + 8)
  const bytes = new Uint8Array(scratch)
  const words = new Uint32Array(scratch)
  const flags = new Uint8Array(1 << tableBits)
  const buckets = buildTable(anchors, flags)

  const scan = (length: number, owners: Set<number>): void => {
    bytes.fill(0, length, length + 8)
    let word = words[0]! | caseBits
    for (let i = 0; i < length; i += 4) {
      const next = words[(i >>> 2) + 1]! | caseBits
      const even = slot(word & 0xffffff)
      if (flags[even] !== 0) check(buckets.get(even)!, { bytes, at: i, length }, owners)
      const odd = slot((word >>> 16) | ((next & 0xff) << 16))
      if (flags[odd] !== 0) check(buckets.get(odd)!, { bytes, at: i + 2, length }, owners)
      word = next
    }
  }

  return {
    find(text) {
      if (anchors.length === 0) return none
      hits.clear()
      for (let from = 0; from < text.length; from += windowChars - overlap) {
        const piece = text.length <= windowChars ? text : text.slice(from, from + windowChars)
        scan(encoder.encodeInto(piece, bytes).written, hits)
        if (from + windowChars >= text.length) break
      }
      return hits.size === 0 ? none : [...hits]
    },
  }
}

const encoder = new TextEncoder()
const none: readonly number[] = []
const hits = new Set<number>()
const windowChars = 32_768
const tableBits = 15
const caseBits = 0x20202020

type Entry = { readonly anchor: OwnedAnchor; readonly needle: Uint8Array; readonly offset: number }

function slot(trigram: number): number {
  return Math.imul(trigram, 0x9e3779b1) >>> (32 - tableBits)
}

function buildTable(anchors: readonly OwnedAnchor[], flags: Uint8Array): Map<number, Entry[]> {
  const buckets = new Map<number, Entry[]>()
  const put = (trigram: number, entry: Entry): void => {
    const key = slot(trigram)
    const bucket = buckets.get(key)
    if (bucket === undefined) buckets.set(key, [entry])
    else if (!bucket.includes(entry)) bucket.push(entry)
    flags[key] = 1
  }
  for (const anchor of anchors) {
    const needle = encoder.encode(anchor.text)
    const folded = needle.map((byte) => byte | 0x20)
    const [a = 0, b = 0, c = 0, d] = folded
    put(a | (b << 8) | (c << 16), { anchor, needle, offset: 0 })
    const second: Entry = { anchor, needle, offset: 1 }
    // After a literal of three bytes anything may come, also nothing.
    const followers = d === undefined ? allFolded : [d]
    for (const follower of followers) put(b | (c << 8) | (follower << 16), second)
  }
  return buckets
}

const allFolded = Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => (byte & 0x20) !== 0)

type Place = { readonly bytes: Uint8Array; readonly at: number; readonly length: number }

function check(bucket: readonly Entry[], { bytes, at, length }: Place, owners: Set<number>): void {
  for (const { anchor, needle, offset } of bucket) {
    const start = at - offset
    if (start < 0 || start + needle.length > length || owners.has(anchor.owner)) continue
    if (!sameBytes(bytes, start, anchor.fold === true ? { needle, fold: 0x20 } : { needle, fold: 0 }))
      continue
    if (anchor.plausible === undefined || anchor.plausible(bytes, start + needle.length, length)) {
      owners.add(anchor.owner)
    }
  }
}

function sameBytes(
  bytes: Uint8Array,
  start: number,
  { needle, fold }: { needle: Uint8Array; fold: number },
): boolean {
  for (let i = 0; i < needle.length; i++) if ((bytes[start + i]! | fold) !== (needle[i]! | fold)) return false
  return true
}
