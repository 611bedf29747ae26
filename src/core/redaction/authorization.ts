import type { Detector, Found } from './detector.ts'
import { endsAt, firstIndex, isReference, matchEnd } from './reading.ts'

/** Credentials in an Authorization header, and behind the words Bearer and Basic wherever they stand. */
export const authorization: Detector = {
  classes: ['bearer-token', 'basic-auth', 'authorization'],
  anchors: [
    { text: 'authorization', fold: true },
    { text: 'bearer', fold: true, plausible: followedBySpace },
    { text: 'basic', fold: true, plausible: followedBySpace },
  ],
  scan(text, found) {
    let undecided = text.length
    for (const match of text.matchAll(/authorization|bearer|basic/gi)) {
      const at = match.index + match[0].length
      const word = match[0].toLowerCase()
      const open = word === 'authorization' ? readHeader(text, at, found) : readScheme(text, { at, word }, found)
      if (open && match.index < undecided) undecided = match.index
    }
    return undecided
  },
}

const separator = /\\*["'`]?\]?[ \t]{0,8}[:=][ \t]{0,8}\\*["'`]?/y
const scheme = /(?:bearer|basic|token|apikey|bot|digest|negotiate|ntlm|hawk|aws4-hmac-sha256)(?:[ \t]{1,8}|%20)/iy
const gap = /(?:[ \t]{1,8}|%20|\+)/y
const credentials = /[A-Za-z0-9._~+/=-]+/y
const valueStop = /[\s"'`<>,;)\\]/g
const lineStop = /[\r\n"'`\\]/g

/** True when more text could change the answer. */
function readHeader(text: string, at: number, found: Found): boolean {
  const value = matchEnd(text, separator, at)
  if (value === -1) return endsAt(text, at) || /^[\\"'`\]]+\s*$/.test(text.slice(at, at + 32))
  const afterScheme = matchEnd(text, scheme, value)
  const start = afterScheme === -1 ? value : afterScheme
  const name = text.slice(value, start).trim().toLowerCase()
  const wide = /^(?:digest|hawk|aws4)/.test(name)
  const end = firstIndex(text, wide ? lineStop : valueStop, start)
  const head = text.slice(start, Math.min(end, start + 64))
  const secret = name === '' ? head.length >= 12 && /[0-9]/.test(head) : head.length >= 8 || /[0-9]/.test(head)
  if (secret && !isReference(head)) {
    found(start, end, name === 'bearer' ? 'bearer-token' : name === 'basic' ? 'basic-auth' : 'authorization')
  }
  return endsAt(text, end)
}

function readScheme(text: string, { at, word }: { at: number; word: string }, found: Found): boolean {
  const start = matchEnd(text, gap, at)
  if (start === -1) return at === text.length
  const end = Math.max(start, matchEnd(text, credentials, start))
  const head = text.slice(start, Math.min(end, start + 512))
  const secret = word === 'bearer' ? head.length >= 16 && /[0-9]/.test(head) : looksEncoded(head)
  if (secret) found(start, end, word === 'bearer' ? 'bearer-token' : 'basic-auth')
  return end === text.length
}

// "Basic functionality" is eight letters and more: capitals, digits or padding are asked for.
function looksEncoded(value: string): boolean {
  if (!/^[A-Za-z0-9+/]{8,}={0,2}$/.test(value)) return false
  return value.endsWith('=') || (/[0-9]/.test(value) && /[a-z]/.test(value) && /[A-Z]/.test(value))
}

function followedBySpace(bytes: Uint8Array, at: number, length: number): boolean {
  return at >= length || bytes[at] === 32 || bytes[at] === 9 || bytes[at] === 37 || bytes[at] === 43
}
