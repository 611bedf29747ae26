import {
  isKeptBesideWords,
  isSecretBelow,
  isSecretValue,
  maxName,
  type ValueContext,
} from './assigned-value.ts'
import { type Anchor, type Detector, firstIndex, matchEnd, skipSpaces } from './detector.ts'
import { nameStrength } from './secret-names.ts'

const maxSpace = 16

const separatorFiller = new Uint8Array(256)

/**
 * NAME=value, `name: value`, `"name": "value"`, `--name value` and what YAML has below a name, where the name says
 * that the value is a secret. Only the value is replaced.
 */
export const assignments: Detector = {
  classes: ['aws-secret-key', 'connection-string', 'secret-assignment'],
  anchors: nameAnchors(),
  scan(text, found) {
    let undecided = text.length
    let from = 0
    keyword.lastIndex = 0
    for (let match = keyword.exec(text); match !== null; match = keyword.exec(text)) {
      const start = nameStart(text, match.index, from)
      const end = nameEnd(text, keyword.lastIndex)
      const parsed = parse(text, { start, end })
      if (parsed.open && start < undecided) undecided = start
      const name = text.slice(start, end)
      for (const value of parsed.values ?? []) found(value.start, value.end, classOf(name, text[value.end]))
      from = Math.max(end, parsed.values?.at(-1)?.end ?? 0)
      keyword.lastIndex = from
    }
    return undecided
  },
}

function nameAnchors(): Anchor[] {
  const next = ` \t:="'\`\\]?._-0123456789`
  const words = ['passw', 'passphrase', 'pwd', '_pass', 'sshpass', 'secret', 'token', 'credential', 'jwt']
  // A bare `key` names nothing; these are the last letters of the words that may stand before it.
  const keys = '_-isegtndrhyk'.split('').map((letter) => `${letter}key`)
  return [...words, ...keys].map((text) => ({ text, fold: true, next, plausible: assigns }))
}

const keyword =
  /passw(?:or)?d|passphrase|pwd|_pass|sshpass|secret|token|credential|(?<=[_isegtndrhyk-])key|jwt/gi
/** A quoted value longer than this is no secret of ours; a stream must not wait for its end. */
const maxQuoted = 4096

/** What is a secret under one name; `open` when more text could change that. */
type Parsed = {
  readonly values?: readonly { readonly start: number; readonly end: number }[]
  readonly open: boolean
}

function parse(text: string, name: { start: number; end: number }): Parsed {
  if (name.end === text.length) return { open: true }
  const word = text.slice(name.start, name.end).replace(/^[-.]+|[-.]+$/g, '')
  const strength = nameStrength(word)
  if (strength === 'none') return readList(text, name, word)
  const separator = readSeparator(text, name)
  if (separator === 'open') return { open: true }
  if (separator === undefined) return { open: false }
  const context = { name: text.slice(name.start, name.end), strength }
  const place = { ...separator, name: name.start }
  return (
    readQuoted(text, separator, context) ??
    readBlock(text, place, context) ??
    readBelow(text, place, context) ??
    readBare(text, separator, context)
  )
}

type Separator = {
  readonly at: number
  readonly form: 'tight' | 'loose' | 'flag' | 'arrow'
  readonly sign?: string
  /** The name stands in quotes, as in JSON. */
  readonly quotedName?: boolean
}

function readSeparator(text: string, name: { start: number; end: number }): Separator | 'open' | undefined {
  let at = name.end
  const whole =
    name.start === 0 || !isNameCode(text.charCodeAt(name.start - 1)) || text[name.start - 2] === '\\'
  if (whole && text.startsWith('--', name.start) && text[at] === ' ') {
    const value = skipSpaces(text, at)
    if (value === text.length) return 'open'
    if (text[value] !== '=' && text[value] !== ':') return { at: value, form: 'flag' }
  }
  while (text[at] === '\\') at++
  const quotedName = isQuote(text[at])
  if (quotedName) at++
  if (text[at] === ']') at++
  if (text[at] === '?') at++
  const spaced = skipSpaces(text, at)
  if (spaced === text.length) return 'open'
  const sign = text[spaced]
  if (sign !== ':' && sign !== '=') return undefined
  let value = spaced + 1
  const arrow = sign === '=' && text[value] === '>'
  if (arrow || (sign === ':' && text[value] === '=')) value++
  if (value === text.length) return 'open'
  if (text[value] === '=' || text[value] === ':') return undefined
  // The user name of a URL: its password is another detector's, and the host must stay.
  if (sign === ':' && text.startsWith('//', name.start - 2)) return undefined
  const loose = spaced > at || sign === ':' || /\s/.test(text[value]!)
  value = skipSpaces(text, value)
  if (value === text.length) return 'open'
  return { at: value, form: arrow ? 'arrow' : loose ? 'loose' : 'tight', sign, quotedName }
}

type NameContext = Pick<ValueContext, 'name' | 'strength'>

function readQuoted(text: string, separator: Separator, context: NameContext): Parsed | undefined {
  let start = separator.at
  while (text[start] === '\\') start++
  const depth = start - separator.at
  const quote = text[start]
  if (start === text.length) return { open: true }
  if (!isQuote(quote)) return undefined
  start++
  const end = closingQuote(text, { start, quote, depth })
  if (end === undefined) return undefined
  const form = separator.quotedName === true ? 'data' : 'quoted'
  const secret = isSecretValue(text.slice(start, end), { ...context, form, next: '' })
  const open = end === text.length
  return secret ? { values: [{ start, end }], open } : { open }
}

type OpenQuote = { readonly start: number; readonly quote: string; readonly depth: number }

/** Also the end of a text that was cut inside the value; nothing if the line ends or the value is too long. */
function closingQuote(text: string, { start, quote, depth }: OpenQuote): number | undefined {
  const limit = Math.min(text.length, start + maxQuoted)
  let slashes = 0
  for (let i = start; i < limit; i++) {
    const char = text[i]
    if (char === '\n') return undefined
    if (char === '\\') {
      slashes++
      continue
    }
    // An escaped quote ends the value only if the opening quote was escaped as deeply.
    if (char === quote && slashes <= depth && (depth > 0 || slashes % 2 === 0)) return i - slashes
    slashes = 0
  }
  return limit === text.length ? limit : undefined
}

/** `password: |` and the lines below it that are indented more than its own, with real or escaped line breaks. */
function readBlock(
  text: string,
  place: Separator & { readonly name: number },
  context: NameContext,
): Parsed | undefined {
  if (text[place.at] !== '|' && text[place.at] !== '>') return undefined
  const first = matchEnd(text, blockStart, place.at)
  if (first === -1) return blockHead.test(text.slice(place.at, place.at + 24)) ? { open: true } : undefined
  const own = indentOf(text, place.name)
  if (own === undefined) return undefined
  const limit = Math.min(text.length, first + maxQuoted)
  let end = first
  let start: number | undefined
  let indent = own + 1
  for (let at = first; at < limit; ) {
    const line = text.slice(at, Math.min(limit, firstIndex(text, blockLineEnd, at)))
    const inner = line.search(/[^ \t]/)
    if (inner !== -1 && inner < indent) break
    if (inner !== -1) {
      indent = start === undefined ? inner : indent
      start ??= at + inner
      end = at + line.length
    }
    at = matchEnd(text, blockBreak, at + line.length)
    if (at === -1) break
  }
  // Replaced in part, what is left of it would be read as the next part, again and again.
  if (end === limit && limit < text.length) return { open: false }
  const open = limit === text.length && text.slice(end).trim() === ''
  const head = text.slice(start, firstIndex(text, blockLineEnd, start ?? end))
  const words = /\s/.test(head) && !/passw|passphrase/i.test(context.name)
  const secret =
    start !== undefined && !words && isSecretValue(head, { ...context, form: 'quoted', next: '' })
  return secret ? { values: [{ start: start!, end }], open } : { open }
}

/** How far the line is indented that begins with this name; nothing when something else stands before it. */
function indentOf(text: string, name: number): number | undefined {
  const before = text.slice(Math.max(0, name - maxIndent), name)
  return /(?:^|\n)([ \t]*)(?:- +)?["']?$/.exec(before.replaceAll('\\n', '\n'))?.[1]?.length
}

const maxIndent = 200
const blockStart = /[|>][-+0-9]{0,2}[ \t]{0,8}(?:\r?\n|\\n)/y
const blockHead = /^[|>][-+0-9]{0,2}[ \t]{0,8}\r?$/
const blockLineEnd = /\r?\n|\\n|"/g
const blockBreak = /\r?\n|\\n/y

/** `tokens: 12` counts them, so a name that says there are several is no secret's; but a list below it holds them. */
function readList(text: string, { start, end }: { start: number; end: number }, word: string): Parsed {
  const at = /s$/i.test(word) ? matchEnd(text, listStart, end) : -1
  const strength = at === -1 ? 'none' : nameStrength(word.slice(0, -1))
  if (strength === 'none') return { open: false }
  const place = { at, form: 'loose', sign: ':', name: start, isList: true } as const
  return readBelow(text, place, { name: word, strength }) ?? { open: at === text.length }
}

const listStart = /["']?:[ \t]{0,16}(?=\r?\n|\\n|$)/y

/** `password:` and its value alone on the next line, indented more, or a list of values below it. */
function readBelow(
  text: string,
  place: Separator & { readonly name: number; readonly isList?: boolean },
  context: NameContext,
): Parsed | undefined {
  const own = place.sign === ':' && matchEnd(text, blockBreak, place.at) !== -1 && indentOf(text, place.name)
  if (typeof own !== 'number') return undefined
  const values: { start: number; end: number }[] = []
  let at = place.at
  for (let items = 0; items < maxItems; items++) {
    const start = matchEnd(text, blockBreak, at)
    if (start === -1) return { values, open: at === text.length }
    const end = firstIndex(text, lineBreak, start)
    const open = end === text.length
    const line = text.slice(start, Math.min(end, start + maxQuoted))
    const [, indent = '', dash = '', quote = '', value = '', rest = ''] = lineBelow.exec(line) ?? []
    const isItem = dash !== ''
    const isBelow = isItem ? indent.length >= own : items === 0 && !place.isList && indent.length > own
    if (value === '' || !isBelow || !isLastOf(rest, quote)) return { values, open }
    const from = start + indent.length + dash.length + quote.length
    if (isSecretBelow(value, quote !== '', context)) values.push({ start: from, end: from + value.length })
    if (open || !isItem) return { values, open }
    at = end
  }
  return { values, open: false }
}

const maxItems = 64
const lineBreak = /\r?\n|\\n/g
const lineBelow = /^([ \t]*)(-[ \t]+)?(\\*["'])?([^\s"'`\\]+)(.*)$/

/** Nothing follows a value on its line, unless its closing quote, a comment or the end of the text around it. */
const isLastOf = (rest: string, quote: string): boolean =>
  quote === ''
    ? /^[ \t]*(?:#.*)?$|^\\*["'`]/.test(rest)
    : /^\\*["'][ \t]*,?[ \t]*(?:#.*)?$|^\\*["'].*["'`]/.test(rest)

function readBare(text: string, separator: Separator, context: NameContext): Parsed {
  const { form } = separator
  // An arrow with a bare word behind it is a function.
  if (form === 'arrow') return { open: false }
  const stop = form === 'tight' && /^[A-Z0-9_]+$/.test(context.name) ? constantStop : bareStop
  let start = separator.at
  while (isQuote(text[start])) start++
  // The judge sees a bounded head: a rejected value is read again for the next name in it.
  const head = text.slice(start, start + 256)
  const value = head.slice(0, firstIndex(head, stop, 0))
  const rest = skipSpaces(text, start + value.length)
  const next = restOfLine(text, rest)
  const words = form === 'loose' && /[^#,;}\])"'`\\]/.test(next)
  const prose =
    words && !isKeptBesideWords(value, text.slice(rest, rest + 12), { ...context, sign: separator.sign })
  const option = form === 'flag' && value.startsWith('-')
  if (prose || option || !isSecretValue(value, { ...context, form, next }))
    return { open: rest === text.length }
  const end = firstIndex(text, stop, start)
  return { values: [{ start, end }], open: skipSpaces(text, end) === text.length }
}

function restOfLine(text: string, at: number): string {
  const char = text[at] ?? ''
  return char === '\n' || char === '\r' || (char === '\\' && /[nr]/.test(text[at + 1] ?? '')) ? '' : char
}

const escapeStop = String.raw`|\\[nrt\\"'${'`'}]`
const constantStop = new RegExp(String.raw`[\s"'${'`'}]${escapeStop}`, 'g')
const bareStop = new RegExp(String.raw`[\s"'${'`'}<>,;&)\]}|]${escapeStop}`, 'g')

function classOf(name: string, terminator: string | undefined): string {
  if (/aws.*secret|secret.?access.?key/i.test(name)) return 'aws-secret-key'
  if (/(?:account|sharedaccess)key$/i.test(name)) return 'connection-string'
  return terminator === ';' && /^(?:password|pwd)$/i.test(name) ? 'connection-string' : 'secret-assignment'
}

function nameStart(text: string, at: number, floor: number): number {
  const limit = Math.max(floor, at - maxName)
  let start = at
  while (start > limit && isNameCode(text.charCodeAt(start - 1))) start--
  // The `n` of an escaped line break is no part of the name.
  const escaped = start > 0 && start < at && text[start - 1] === '\\' && isBreakLetter(text.charCodeAt(start))
  return escaped ? start + 1 : start
}

function nameEnd(text: string, at: number): number {
  const limit = Math.min(text.length, at + maxName)
  let end = at
  while (end < limit && isNameCode(text.charCodeAt(end))) end++
  return end
}

function isQuote(char: string | undefined): char is '"' | "'" | '`' {
  return char === '"' || char === "'" || char === '`'
}

/** n, r, t */
function isBreakLetter(code: number): boolean {
  return code === 110 || code === 114 || code === 116
}

function isNameCode(code: number): boolean {
  const letter = code | 32
  return (
    (letter >= 97 && letter <= 122) || (code >= 48 && code <= 57) || code === 95 || code === 45 || code === 46
  )
}

/** A separator follows the name, or the name is a flag. */
function assigns(bytes: Uint8Array, at: number, length: number): boolean {
  let i = at
  while (i < length && i < at + maxName && isNameCode(bytes[i]!)) i++
  let start = at
  while (start > 0 && start > at - maxName && isNameCode(bytes[start - 1]!)) start--
  const whole = start === 0 || !isNameCode(bytes[start - 1]!)
  if (start > 0 && bytes[start - 1] === 92 && isBreakLetter(bytes[start]!)) start++
  if (whole && bytes[start] === 45 && bytes[start + 1] === 45) return true
  const limit = Math.min(length, i + maxSpace + 8)
  while (i < limit && separatorFiller[bytes[i]!] === 1) i++
  return i >= length || bytes[i] === 58 || bytes[i] === 61
}

for (const char of ' \t\\"\'`]?') separatorFiller[char.charCodeAt(0)] = 1
