import type { Anchor } from './detector.ts'

/** An anchor and the number its finder is told by. */
type OwnedAnchor = Anchor & { readonly owner: number }

/** Finds in one pass which of many literals occur in a text. */
type Prefilter = {
  /** The owners of all plausible anchors, each once; the same empty array when there is none. */
  readonly find: (text: string) => readonly number[]
}

/**
 * Every literal has at least three bytes, or one with others around it, and one of two trigrams that follow each other begins at an even
 * place: reading every second trigram through one table misses nothing. Of a longer literal the two are
 * taken that ordinary text has least. Bytes are compared with bit 5 set, which makes
 * letters caseless; the exact comparison comes only after a hit in the table.
 */
export function createPrefilter(anchors: readonly OwnedAnchor[]): Prefilter {
  const longest = Math.max(0, ...anchors.map((anchor) => anchor.text.length))
  const overlap = Math.min(longest, windowChars / 2)
  const scratch = new ArrayBuffer(windowChars * 3 + 8)
  const bytes = new Uint8Array(scratch)
  const words = new Uint32Array(scratch)
  const { bits, starts, trigrams, compared, caseless, entries } = buildTable(anchors)
  const owners = new Set<number>()

  const check = (place: number, at: number, length: number): void => {
    const trigram = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16)
    const bucket = place >>> (tableBits - bucketBits)
    const last = starts[bucket + 1]!
    for (let i = starts[bucket]!; i < last; i++) {
      // Most of what meets the table differs here already: another case, or another trigram of the same bucket.
      if (((trigram | caseless[i]!) & compared[i]!) !== trigrams[i]) continue
      const entry = entries[i]!
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
      const second = slot((word >>> 16) | ((next & 0xff) << 16))
      // A shift counts modulo 32. One branch for both places: it is hardly ever taken.
      const here = bits[first >>> 5]! & (1 << first)
      const there = bits[second >>> 5]! & (1 << second)
      if ((here | there) !== 0) {
        if (here !== 0) check(first, i, length)
        if (there !== 0) check(second, i + 2, length)
      }
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
const bucketBits = 12
const caseBits = 0x20202020

type Entry = {
  readonly anchor: OwnedAnchor
  readonly needle: Uint8Array
  readonly fold: number
  /** The bytes of the literal at `offset`, those of them that are compared, and the bits that case may change. */
  readonly trigram: number
  readonly compared: number
  readonly caseless: number
  /** Where in the literal the trigram begins. */
  readonly offset: number
}

function slot(trigram: number): number {
  return Math.imul(trigram, 0x26dbc983) >>> (32 - tableBits)
}

/**
 * One bit for each slot that is in use: few, so that a text rarely meets one by chance. What is there lies in plain arrays
 * beside each other, by buckets of many slots: a text that meets much must not wait for memory each time.
 */
type Table = {
  readonly bits: Int32Array
  readonly starts: Uint32Array
  readonly trigrams: Int32Array
  readonly compared: Int32Array
  readonly caseless: Int32Array
  readonly entries: readonly Entry[]
}

function buildTable(anchors: readonly OwnedAnchor[]): Table {
  const bits = new Int32Array(1 << (tableBits - 5))
  const buckets = Array.from({ length: 1 << bucketBits }, (): Entry[] => [])
  const put = (trigram: number, entry: Entry): void => {
    const key = slot(trigram)
    bits[key >>> 5]! |= 1 << key
    const bucket = buckets[key >>> (tableBits - bucketBits)]!
    if (!bucket.includes(entry)) bucket.push(entry)
  }
  for (const anchor of anchors) {
    const needle = encoder.encode(anchor.text)
    if (anchor.before !== undefined) {
      const [byte = 0] = needle
      const own = { anchor, needle, fold: 0, caseless: 0 }
      const behind = { ...own, offset: -1, trigram: byte << 8, compared: 0xff00 }
      const ahead = { ...own, offset: 0, trigram: byte, compared: 0xff }
      for (const next of followers(anchor)) {
        for (const before of foldedOf(anchor.before)) put(before | (byte << 8) | (next << 16), behind)
        for (const second of followers(anchor)) put(byte | (next << 8) | (second << 16), ahead)
      }
      continue
    }
    const folded = needle.map((byte) => byte | 0x20)
    const offset = rarestPair(folded)
    const [a = 0, b = 0, c = 0, d] = folded.subarray(offset)
    put(a | (b << 8) | (c << 16), entryOf(anchor, needle, offset))
    const second = entryOf(anchor, needle, offset + 1)
    for (const follower of d === undefined ? followers(anchor) : [d])
      put(b | (c << 8) | (follower << 16), second)
  }
  const starts = new Uint32Array(buckets.length + 1)
  buckets.forEach((bucket, i) => {
    starts[i + 1] = starts[i]! + bucket.length
  })
  const entries = buckets.flat()
  const column = (name: 'trigram' | 'compared' | 'caseless') =>
    Int32Array.from(entries, (entry) => entry[name])
  return {
    bits,
    starts,
    trigrams: column('trigram'),
    compared: column('compared'),
    caseless: column('caseless'),
    entries,
  }
}

function entryOf(anchor: OwnedAnchor, needle: Uint8Array, offset: number): Entry {
  const fold = anchor.fold === true ? 0x20 : 0
  const [a = 0, b = 0, c] = needle.subarray(offset).map((byte) => byte | fold)
  const compared = c === undefined ? 0xffff : 0xffffff
  const trigram = a | (b << 8) | ((c ?? 0) << 16)
  const caseless = anchor.fold === true ? 0x202020 & compared : 0
  return { anchor, needle, fold, offset, trigram, compared, caseless }
}

/** Where in a literal the two trigrams begin whose places in the table ordinary text meets least. */
function rarestPair(folded: Uint8Array): number {
  let best = 0
  let least = Number.POSITIVE_INFINITY
  for (let at = 0; at + 4 <= folded.length; at++) {
    const [a = 0, b = 0, c = 0, d = 0] = folded.subarray(at, at + 4)
    const cost = costOf(a | (b << 8) | (c << 16)) + costOf(b | (c << 8) | (d << 16))
    if (cost <= least) {
      least = cost
      best = at
    }
  }
  return best
}

function costOf(trigram: number): number {
  const letters = [trigram & 0xff, (trigram >>> 8) & 0xff, trigram >>> 16].filter(isLetter).length
  return (slotCosts.get(slot(trigram)) ?? 0) + letters / 20_000
}

function isLetter(byte: number): boolean {
  return byte >= 97 && byte <= 122
}

/** What prose and code are mostly made of, the most frequent first. */
const commonTrigrams = [
  ' reconionons th cost ingnstentthetioess  creaortstrhe ed  stectageportypypeprotrisioeadurn  rtur',
  'expextrinssiromstart oderetineon sester is a it  an sendeetuer estthior  intexof atern  toparfor',
  'andameres pais def prall extedfro itat equendes finhis ofnalnd onl frevely nly tevalif don as wh',
  'ileund  iind not tver unnamerr foimphatgenom mpong  ifder tyadotes nuworfilchepe  fiefiredpects ',
  'mesctiout deersntecom camodaitnedwai  eartt i  trro.tois.linoneroras runreqxpe litatontvenoolmbe',
  'notjecnums a onbercalintpatptintsatiawaigns taludelask nesaglueopeperoptre ireputumb mason en.ts',
  'uncin own beiteorkordse t aaretoosynt oe t oridexpotchssanctultpenfunsigthaactathth  ch  aherore',
  '...len  squile asetarplaithnt kinbjell t cdatnce trengn tobjuirsteomplow awtruwitereto ecoits me',
  't s opacext  wo agnewynctengetkey ruounen ---atc wie ie s.strecletmene asertorew s oull moqueapp',
  'repan  watraansuesne blerencodrtsiverowsetscrcregnanowhasuseenc ..chanulrovgin tans  artimid old',
  'imet f naourspaistn atintas vacorngtet  sialsken ev clgthritleshanlsetreranmatrate omapntrcesole',
  'rammisnti faot ailcrids ainch s nme lede caliple haothow   foke.rewhaut prededes.leawernid lempl',
  'isearauntt rt winsmit z.tem londsonfnodastdess iangassasyach soon.inpualnpumannfiabler.arsce kno',
  'lisnin byera keracdenjso fuancsedruedexal ngenc hemarrrsetteed.mintokripf titiiptissloaatade hec',
  'ommargrefnt.omellets.n ieck ro dodin saockhin atwri.mae f suoadinipos  .whethrlasstoatufigoin  p',
  'vidomiheaaftadequaemoema aloniunkroprce.leroummat bfieostetet plocesueateofoved tfalfercloean la',
  '.coeasfoloseue rrages ercolabo.padecieslane pcat ousuba smptte ack sc shrnaenspanormmuslacners.t',
  'r t ids stusermliccla usntaraylatustzodhroldeaulflot msche r sp boutpertookf a dictologreetoetpu',
  ' apld dirt ertesweanye nnswstichioeq datobsulnse  lurelidrs  obovishoclid at dfai plvieiewr abas',
  'addthoonadepants w.secanevippesou tineserne wictelemetakeimi gehensinicerevct asoetary n sinaffe',
].join('')

const slotCosts = new Map<number, number>()

for (let at = 0; at < commonTrigrams.length; at += 3) {
  const [a = 0, b = 0, c = 0] = encoder.encode(commonTrigrams.slice(at, at + 3)).map((byte) => byte | 0x20)
  const place = slot(a | (b << 8) | (c << 16))
  slotCosts.set(place, (slotCosts.get(place) ?? 0) + 1 / (at + 60))
}

/** What may stand behind a literal of three bytes, with bit 5 set; the end of the text reads as zero. */
function followers(anchor: Anchor): Iterable<number> {
  if (anchor.next === undefined) return allFolded
  return new Set([0x20, ...foldedOf(anchor.next)])
}

const foldedOf = (chars: string): Uint8Array => encoder.encode(chars).map((byte) => byte | 0x20)

const allFolded = Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => (byte & 0x20) !== 0)

function sameBytes(bytes: Uint8Array, start: number, { needle, fold }: Entry): boolean {
  for (let i = 0; i < needle.length; i++) if ((bytes[start + i]! | fold) !== (needle[i]! | fold)) return false
  return true
}
