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
      for (const text of spellings(piece)) add({ text, mixedBefore: false, mixedAfter: false })
      for (const form of base64Forms(piece)) add(form)
    }
  }
  return [...forms.values()]
}

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
  return (text) => {
    for (let at = Math.max(0, text.length - longest + 1); at < text.length; at++) {
      const candidates = byFirst.get(text.charCodeAt(at))
      if (candidates === undefined) continue
      const tail = text.slice(at)
      if (candidates.some((form) => form.text.length > tail.length && form.text.startsWith(tail))) return at
    }
    return text.length
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
  return [
    value,
    json,
    JSON.stringify(json).slice(1, -1),
    json.replaceAll('/', String.raw`\/`),
    url,
    url.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()),
    url.replaceAll('%20', '+'),
    url.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`),
    encodeURI(value),
    hex,
    hex.toUpperCase(),
  ]
}

/** Text in which a secret shows itself; in base64, the part its neighbours have no bits in. */
export type SecretForm = {
  readonly text: string
  /** The character before, and the one after, mix bits of the value with bits of its neighbours. */
  readonly mixedBefore: boolean
  readonly mixedAfter: boolean
}

/** How a value looks inside base64, standard and URL-safe, at each of the three alignments. */
function base64Forms(value: string): SecretForm[] {
  const bytes = new TextEncoder().encode(value)
  return [0, 1, 2].flatMap((shift) => {
    const padded = new Uint8Array(shift + bytes.length)
    padded.set(bytes, shift)
    const first = Math.ceil((shift * 8) / 6)
    const bits = padded.length * 8
    const inner = { mixedBefore: shift > 0, mixedAfter: bits % 6 > 0 }
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
