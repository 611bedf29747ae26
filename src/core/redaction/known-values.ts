import { marker } from './secret-spans.ts'

/** The class of what was told to us as a secret, in whatever form it shows up. */
export const knownValueClass = 'known-value'

/** All forms of the values that are long and rare enough to be searched for. */
export function knownForms(values: readonly string[], classes: readonly string[]): SecretForm[] {
  const forms = new Map<string, SecretForm>()
  const add = (form: SecretForm): void => {
    if (form.text.length >= minLength && !forms.has(form.text)) forms.set(form.text, form)
  }
  const markers = classes.map(marker).join('')
  for (const raw of values) {
    const value = raw.trim()
    if (!isSearchable(value) || markers.includes(value)) continue
    for (const piece of pieces(value)) {
      for (const [index, text] of spellings(piece).entries())
        add({ text, mixedBefore: false, mixedAfter: false, breaks: index < breakableSpellings })
      for (const form of base64Forms(piece)) add(form)
    }
  }
  return [...forms.values()]
}

/** A form that may be found in several parts, and parts of it one of which is whole in any text that has it so. */
export type BrokenForm = { readonly form: SecretForm; readonly parts: readonly string[] }

/** The forms that are long enough to be known by a part, as they are without what may stand in a break. */
export function brokenForms(forms: readonly SecretForm[]): BrokenForm[] {
  return forms
    .filter((form) => form.breaks)
    .map((form) => ({ ...form, text: joinBroken(form.text).text }))
    .filter((form) => form.text.length >= minBroken)
    .map((form) => {
      const count = Math.max(2, Math.floor(form.text.length / 16))
      const size = Math.floor(form.text.length / count)
      const parts = Array.from({ length: count }, (_, i) => form.text.slice(i * size, (i + 1) * size))
      return { form, parts: parts.filter((part) => new Set(part).size > 1) }
    })
}

/** A text without its line breaks and the quotes between two literals, and where its characters were. */
export type JoinedText = { readonly text: string; readonly origin: (index: number) => number }

export function joinBroken(text: string): JoinedText {
  const starts: number[] = []
  const origins: number[] = []
  let out = ''
  let from = 0
  const take = (end: number): void => {
    starts.push(out.length)
    origins.push(from)
    out += text.slice(from, end)
  }
  for (const gap of text.matchAll(breaks)) {
    take(gap.index)
    from = gap.index + gap[0].length
  }
  take(text.length)
  const origin = (index: number): number => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (starts[middle]! <= index) low = middle
      else high = middle - 1
    }
    return origins[low]! + index - starts[low]!
  }
  return { text: out, origin }
}

/** The ranges a form takes in a text where it is in parts. */
export function* brokenOccurrences(
  joined: JoinedText,
  form: SecretForm,
): Generator<{ start: number; end: number }> {
  for (const { start, end } of occurrences(joined.text, form))
    yield { start: joined.origin(start), end: joined.origin(end - 1) + 1 }
}

const minBroken = 12
const breaks =
  /\\?\r?\n[ \t]{0,200}|\\r\\n[ \t]{0,200}|\\n[ \t]{0,200}|["'`][ \t]{0,8}[+.&]?[ \t]{0,8}(?:\\?\r?\n)?[ \t]{0,200}["'`]/g
/** A break that more text could complete. */
const openBreak = /["'`][ \t]{0,8}[+.&]?[ \t]{0,8}\\?\r?\n?[ \t]{0,200}$|\\\r?$|\r$/

/** The range of the text a form takes; a base64 neighbour that carries bits of the secret goes with it. */
export function* occurrences(text: string, form: SecretForm): Generator<{ start: number; end: number }> {
  for (let at = text.indexOf(form.text); at !== -1; at = text.indexOf(form.text, at + form.text.length)) {
    const end = at + form.text.length
    const before = form.mixedBefore && at > 0 && base64Char.test(text[at - 1]!) ? 1 : 0
    const after = form.mixedAfter && end < text.length && base64Char.test(text[end]!) ? 1 : 0
    yield { start: at - before, end: end + after }
  }
}

/** Where the longest end of the text begins that is the beginning of a form, or the length of the text. */
export function createTailFinder(forms: readonly SecretForm[]): (text: string) => number {
  const longest = Math.max(0, ...forms.map((form) => form.text.length))
  const byFirst = Map.groupBy(forms, (form) => form.text.charCodeAt(0))
  const plainTail = (text: string): number => {
    for (let at = Math.max(0, text.length - longest + 1); at < text.length; at++) {
      const candidates = byFirst.get(text.charCodeAt(at))
      if (candidates === undefined) continue
      const tail = text.slice(at)
      if (candidates.some((form) => form.text.length > tail.length && form.text.startsWith(tail))) return at
    }
    return text.length
  }
  return (text) => {
    const plain = plainTail(text)
    const start = Math.max(0, text.length - longest * 3)
    const joined = joinBroken(text.slice(start).replace(openBreak, ''))
    const at = joined.text.length === text.length - start ? joined.text.length : plainTail(joined.text)
    return at < joined.text.length ? Math.min(plain, start + joined.origin(at)) : plain
  }
}

const minLength = 8
const maxPiece = 300
const base64Char = /[A-Za-z0-9+/_-]/

/** Words, paths, numbers and the like would redact half of every log. */
export function isSearchable(value: string): boolean {
  if (value.length < minLength || !value.isWellFormed() || new Set(value).size === 1) return false
  return !commonWords.has(value.toLowerCase()) && !commonShapes.test(value)
}

const commonShapes =
  /^(?:[0-9]{1,11}|[0-9]+[.:][0-9.:]*|(?:~|\.{1,2})\/.*|\/(?:usr|home|etc|var|tmp|bin|sbin|opt|root|work|workspace|workspaces|mnt|dev|proc|sys|lib|run|srv|app|nix|snap|private|Users|Library|Applications|Volumes)(?:\/.*|:.*)?|[A-Za-z]:\\.*|https?:\/\/(?:localhost|127\.0\.0\.1)(?::[0-9]+)?\/?|[a-z]{2}_[A-Z]{2}(?:\.[A-Za-z0-9-]+)?)$/s

const commonWords = new Set(
  `localhost production development staging undefined password changeme username disabled truecolor xterm-256color
  screen-256color tmux-256color application application/json text/plain anonymous administrator postgres
  redacted node_modules`.split(/\s+/),
)

/** A long value is searched for in parts, so that no form is longer than a stream may hold back. */
function pieces(value: string): string[] {
  const chars = Array.from(value)
  const size = Math.ceil(chars.length / Math.ceil(chars.length / maxPiece))
  const starts = Array.from({ length: Math.ceil(chars.length / size) }, (_, i) => i * size)
  return starts
    .map((start) => chars.slice(start, start + size).join(''))
    .filter((piece) => new Set(piece).size > 1)
}

function spellings(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1)
  const url = encodeURIComponent(value)
  const hex = Array.from(new TextEncoder().encode(value), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )
  const pairs = hex.match(/../g) ?? []
  return [
    value,
    hex,
    hex.toUpperCase(),
    json,
    JSON.stringify(json).slice(1, -1),
    json.replaceAll('/', String.raw`\/`),
    url,
    url.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()),
    url.replaceAll('%20', '+'),
    url.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`),
    encodeURI(value),
    value.replace(/[&<>"']/g, (char) => `&${entities.get(char)};`),
    value.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`),
    ...[pairs, pairs.map((pair) => pair.toUpperCase())].flatMap((bytes) => [
      bytes.join(':'),
      bytes.join(' '),
      bytes.map((pair) => `%${pair}`).join(''),
      bytes.map((pair) => String.raw`\x${pair}`).join(''),
    ]),
    Array.from({ length: value.length }, (_, i) => unicodeEscape(value.charCodeAt(i))).join(''),
    // The two ways in which a dump shows bytes by twos.
    hex.replace(/(.{4})(?=.)/g, '$1 '),
    `${hex.slice(0, 2)} ${hex.slice(2).replace(/(.{4})(?=.)/g, '$1 ')}`,
  ]
}

/** How many of the spellings, from the first on, are searched for in parts, too. */
const breakableSpellings = 2

const entities = new Map([
  ['&', 'amp'],
  ['<', 'lt'],
  ['>', 'gt'],
  ['"', 'quot'],
  ["'", 'apos'],
])

function unicodeEscape(code: number): string {
  return String.raw`\u${code.toString(16).padStart(4, '0')}`
}

/** Text in which a secret shows itself; in base64, the part its neighbours have no bits in. */
export type SecretForm = {
  readonly text: string
  /** The character before, and the one after, mix bits of the value with bits of its neighbours. */
  readonly mixedBefore: boolean
  readonly mixedAfter: boolean
  /** It is searched for over line breaks and between the literals of a program, too. */
  readonly breaks: boolean
}

/** How a value looks inside base64, standard and URL-safe, at each of the three alignments. */
function base64Forms(value: string): SecretForm[] {
  const bytes = new TextEncoder().encode(value)
  return [0, 1, 2].flatMap((shift) => {
    const padded = new Uint8Array(shift + bytes.length)
    padded.set(bytes, shift)
    const first = Math.ceil((shift * 8) / 6)
    const bits = padded.length * 8
    const inner = { mixedBefore: shift > 0, mixedAfter: bits % 6 > 0, breaks: true }
    return [standard, urlSafe].map((alphabet) => ({
      text: encode(padded, alphabet).slice(first, Math.floor(bits / 6)),
      ...inner,
    }))
  })
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const standard = `${letters}+/`
const urlSafe = `${letters}-_`

function encode(bytes: Uint8Array, alphabet: string): string {
  let out = ''
  for (let i = 0; i < bytes.length; i += 3) {
    const group = (bytes[i]! << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0)
    for (const shift of [18, 12, 6, 0]) out += alphabet[(group >>> shift) & 63]
  }
  return out
}
