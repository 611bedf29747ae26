import { type Detector, firstIndex, isReference, matchEnd } from './detector.ts'

/** The passwords of a `.netrc`: `machine NAME login USER password SECRET` or `default login …`, in one line or several. */
export const netrc: Detector = {
  classes: ['netrc-password'],
  anchors: [
    { text: 'machine', plausible: followedBySpace },
    { text: 'default', plausible: followedByLogin },
  ],
  scan(text, found) {
    let undecided = text.length
    for (const match of text.matchAll(/(?<![\w-])(machine|default)(?=\s|\\n)/g)) {
      const entry = readEntry(text, match.index + match[0].length, match[1] === 'machine')
      if (entry.open) undecided = Math.min(undecided, match.index)
      if (entry.password !== undefined) found(...entry.password, 'netrc-password')
    }
    return undecided
  },
}

type Entry = { readonly password?: [start: number, end: number]; readonly open: boolean }

/** A host, or else `login` at once; then pairs of a word and its value. Any other word ends the entry. */
function readEntry(text: string, from: number, isHostNamed: boolean): Entry {
  let at = from
  if (isHostNamed) {
    at = matchEnd(text, gap, from)
    if (at === -1) return { open: false }
    at = firstIndex(text, tokenEnd, at)
  }
  for (let pairs = 0; pairs < 4; pairs++) {
    const word = matchEnd(text, gap, at)
    if (word === -1) return { open: at === text.length }
    const wordEnd = firstIndex(text, tokenEnd, word)
    const name = text.slice(word, Math.min(wordEnd, word + 10))
    if (wordEnd === text.length) return { open: true }
    const mayFollow = pairs === 0 && !isHostNamed ? /^login$/ : /^(?:login|account|password)$/
    if (!mayFollow.test(name)) return { open: false }
    const value = matchEnd(text, gap, wordEnd)
    if (value === -1) return { open: false }
    at = firstIndex(text, tokenEnd, value)
    if (name === 'password') {
      return isReference(text.slice(value, value + 64)) || at === value
        ? { open: at === text.length }
        : { password: [value, at], open: at === text.length }
    }
  }
  return { open: false }
}

const gap = /(?:[ \t\r\n]|\\[nt]){1,16}/y
const tokenEnd = /[\s"']|\\[nrt]/g

function followedBySpace(bytes: Uint8Array, at: number, length: number): boolean {
  return at >= length || bytes[at]! <= 32 || bytes[at] === 92
}

/** `default` stands before much else; here it stands before `login`. */
function followedByLogin(bytes: Uint8Array, at: number, length: number): boolean {
  if (!followedBySpace(bytes, at, length)) return false
  let i = at
  while (i < length && i < at + 32 && (bytes[i]! <= 32 || bytes[i] === 92 || bytes[i - 1] === 92)) i++
  return i >= length || bytes[i] === 108
}

/** `"auth": "…"` of a Docker configuration and `_auth=…` of an `.npmrc`: a name and a password in base64. */
export const encodedLogin: Detector = {
  classes: ['encoded-login'],
  anchors: [{ text: '"auth"' }, { text: '"auth\\' }, { text: '_auth', plausible: notAWord }],
  scan(text, found) {
    let undecided = text.length
    for (const match of text.matchAll(loginName)) {
      const at = match.index + match[0].length
      const value = matchEnd(text, loginSeparator, at)
      const end = value === -1 ? -1 : firstIndex(text, notBase64, value)
      const open = value === -1 ? /^[\\"\s:=]{0,24}$/.test(text.slice(at, at + 25)) : end === text.length
      if (open) undecided = Math.min(undecided, match.index)
      if (end - value >= 8 && isLogin(text.slice(value, end))) found(value, end, 'encoded-login')
    }
    return undecided
  },
}

const loginName = /(?:(?<=["])auth(?=\\{0,3}")|(?<![A-Za-z0-9])_auth(?![A-Za-z]))/g
const loginSeparator = /\\{0,3}"?[ \t\r\n]{0,8}[:=][ \t\r\n]{0,8}\\{0,3}["']?(?=[A-Za-z0-9+/])/y
const notBase64 = /[^A-Za-z0-9+/=]/g

/** What base64 says is a name, a colon and more; a hash or an identifier hardly ever says that. */
function isLogin(value: string): boolean {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(value) || value.length > 4096) return false
  const bytes = Array.from(value.replaceAll('=', ''), (char) => base64.indexOf(char))
  let text = ''
  for (let i = 0; i + 1 < bytes.length; i++) {
    if (i % 4 === 3) continue
    const shift = (i % 4) * 2 + 2
    text += String.fromCharCode(((bytes[i]! << shift) | (bytes[i + 1]! >> (6 - shift))) & 255)
  }
  return /^[\x20-\x7e]{1,64}?:[\x20-\x7e]{3,}/.test(text)
}

const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

function notAWord(bytes: Uint8Array, at: number, length: number): boolean {
  return at >= length || bytes[at]! < 65
}
