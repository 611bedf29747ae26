import type { Detector } from './detector.ts'
import type { Span } from './secret-spans.ts'

/** How much text after a header may wait for its END line. */
export const maxWait = 8192

/** Private keys in armour: PKCS, OpenSSH, PGP; with real or escaped line breaks; also when the end is cut off. */
export const privateKey: Detector = {
  classes: ['private-key'],
  anchors: [{ text: '-----BEGIN ' }],
  scan(text, found) {
    let undecided = text.length
    let from = 0
    let footer = 0
    header.lastIndex = 0
    for (let match = header.exec(text); match !== null; match = header.exec(text)) {
      const body = header.lastIndex
      if (footer !== -1 && footer < body) footer = text.indexOf('-----END ', body)
      const next = text.indexOf('-----BEGIN ', body)
      const key = readBody(text, { body, footer, next })
      if (key.open && match.index < undecided) undecided = match.index
      if (key.end > body) found(match.index, key.end, 'private-key')
      from = Math.max(body, key.end)
      header.lastIndex = from
    }
    const tail = text.slice(Math.max(from, text.length - 96))
    const partial = /-----BEGIN [A-Z0-9 ]{0,60}-{0,4}$/.exec(tail)
    return partial === null ? undecided : Math.min(undecided, text.length - tail.length + partial.index)
  },
}

const header = /-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----/g
const footerLine = /-----END [A-Z0-9 ]{1,60}-----/y
const minRun = 40
/** Line numbers, quotes, armour headers: what may stand between two lines of a key. */
export const maxGap = 200

type Place = { readonly body: number; readonly footer: number; readonly next: number }

function readBody(text: string, { body, footer, next }: Place): { end: number; open: boolean } {
  const closed = footer !== -1 && (next === -1 || footer < next)
  if (closed && (footer - body <= maxWait || keyRunEnd(text, body, footer) >= footer - maxGap)) {
    footerLine.lastIndex = footer
    if (footerLine.test(text)) return { end: footerLine.lastIndex, open: false }
    return { end: Math.min(text.length, footer + 9), open: text.length - footer < 80 }
  }
  const limit = next === -1 ? text.length : next
  const end = keyRunEnd(text, body, limit)
  const alive = limit - end <= maxGap || limit - body <= maxWait
  return { end: end === body ? body : withLastLine(text, end), open: next === -1 && !closed && alive }
}

/** The end of the last long base64 run reachable from `from` over short gaps; `from` itself if there is none. */
export function keyRunEnd(text: string, from: number, limit: number): number {
  let end = from
  let start = from
  for (let i = from; i <= limit; i++) {
    if (i < limit && isBase64(text.charCodeAt(i))) continue
    if (i - start >= minRun) end = i
    if (i - end > maxGap) break
    start = i + 1
  }
  return end
}

// The last line of a key whose end was cut off is short.
const lastLine = /(?:\s|\\[nr])+[A-Za-z0-9+/]{1,39}={0,2}(?=\s|\\[nr]|["'`]|$)/y

function withLastLine(text: string, end: number): number {
  lastLine.lastIndex = end
  const match = lastLine.exec(text)
  return match !== null && (lastLine.lastIndex === text.length || /[0-9+/=]/.test(match[0]))
    ? lastLine.lastIndex
    : end
}

function isBase64(code: number): boolean {
  const letter = code | 32
  return (
    (letter >= 97 && letter <= 122) || (code >= 48 && code <= 57) || code === 43 || code === 47 || code === 61
  )
}

/** The parts of a private key whose lines stand in one list, as in the lines of a patch: by index. */
export function keyLineSpans(items: readonly unknown[]): ReadonlyMap<number, Span[]> {
  if (!items.some((item) => typeof item === 'string' && item.includes('-----BEGIN '))) return none
  const parts = new Map<number, Span[]>()
  const starts: number[] = []
  let joined = ''
  for (const item of items) {
    starts.push(joined.length)
    joined += `${typeof item === 'string' ? item : ''}\n`
  }
  privateKey.scan(joined, (start, end, secretClass) => {
    for (let i = starts.findLastIndex((at) => at <= start); i < starts.length && starts[i]! < end; i++) {
      const at = starts[i]!
      const length = (starts[i + 1] ?? joined.length) - 1 - at
      const part = {
        start: Math.max(start - at, 0),
        end: Math.min(end - at, length),
        class: secretClass,
        rank: 0,
      }
      parts.set(i, [...(parts.get(i) ?? []), part])
    }
  })
  return parts
}

const none: ReadonlyMap<number, Span[]> = new Map()
