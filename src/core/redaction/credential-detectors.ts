import { type Detector, endsAt, firstIndex, followedBy, isReference, matchEnd } from './detector.ts'

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
    keyword.lastIndex = 0
    for (let match = keyword.exec(text); match !== null; match = keyword.exec(text)) {
      const at = keyword.lastIndex
      const word = match[0].toLowerCase()
      const read = word === 'authorization' ? readHeader(text, at) : readScheme(text, at, word)
      if (read.open && match.index < undecided) undecided = match.index
      if (read.class !== undefined) found(read.start, read.end, read.class)
      // Going on behind the value keeps a text of nothing but headers linear.
      keyword.lastIndex = read.class === undefined ? at : read.end
    }
    return undecided
  },
}

const keyword = /authorization|bearer|basic/gi

const separator = /\\*["'`]?\]?[ \t]{0,8}[:=][ \t]{0,8}\\*["'`]?/y
const scheme =
  /(?:bearer|basic|token|apikey|bot|digest|negotiate|ntlm|hawk|aws4-hmac-sha256)(?:[ \t]{1,8}|%20)/iy
const gap = /(?:[ \t]{1,8}|%20|\+)/y
const valueStop = /[\s"'`<>,;)\\]/g
const credentialsStop = /[^A-Za-z0-9._~+/=-]/g
const maxHead = 256

/** Without a class there is no secret; `open` when more text could change the answer. */
type Read = { readonly start: number; readonly end: number; readonly class?: string; readonly open: boolean }

function readHeader(text: string, at: number): Read {
  const value = matchEnd(text, separator, at)
  if (value === -1) return { start: at, end: at, open: /^[\\"'`\]]*\s*$/.test(text.slice(at, at + 32)) }
  const afterScheme = matchEnd(text, scheme, value)
  const start = afterScheme === -1 ? value : afterScheme
  const name = text.slice(value, start).trim().toLowerCase()
  const stop = /^(?:digest|hawk|aws4)/.test(name) ? lineStopAfter(text[value - 1]!) : valueStop
  const head = headOf(text, stop, start)
  const shaped =
    name === '' ? head.length >= 12 && /[0-9]/.test(head) : head.length >= 8 || /[0-9]/.test(head)
  if (!shaped || isReference(head)) return { start, end: start, open: endsAt(text, start + head.length) }
  const end = firstIndex(text, stop, start)
  return { start, end, class: classes.get(name) ?? 'authorization', open: endsAt(text, end) }
}

/** These schemes have quoted parts of their own: only the quote around the header ends it. */
function lineStopAfter(opening: string): RegExp {
  return /["'`]/.test(opening) ? new RegExp(`[\\r\\n${opening}]`, 'g') : /[\r\n]/g
}

const classes = new Map([
  ['bearer', 'bearer-token'],
  ['basic', 'basic-auth'],
])

function readScheme(text: string, at: number, word: string): Read {
  const start = matchEnd(text, gap, at)
  if (start === -1) return { start: at, end: at, open: at === text.length }
  const head = headOf(text, credentialsStop, start)
  const secret = word === 'bearer' ? head.length >= 16 && /[0-9]/.test(head) : looksEncoded(head)
  if (!secret) return { start, end: start, open: start + head.length === text.length }
  const end = firstIndex(text, credentialsStop, start)
  return { start, end, class: classes.get(word)!, open: end === text.length }
}

function headOf(text: string, stop: RegExp, start: number): string {
  const head = text.slice(start, start + maxHead)
  return head.slice(0, firstIndex(head, stop, 0))
}

// "Basic functionality" is eight letters and more: capitals, digits or padding are asked for.
function looksEncoded(value: string): boolean {
  if (!/^[A-Za-z0-9+/]{8,}={0,2}$/.test(value)) return false
  return value.endsWith('=') || (/[0-9]/.test(value) && /[a-z]/.test(value) && /[A-Z]/.test(value))
}

function followedBySpace(bytes: Uint8Array, at: number, length: number): boolean {
  return at >= length || bytes[at] === 32 || bytes[at] === 9 || bytes[at] === 37 || bytes[at] === 43
}

/** The values of a Cookie or Set-Cookie header in a text. */
export const cookieHeader: Detector = {
  classes: ['cookie'],
  anchors: [{ text: 'cookie', fold: true }],
  scan(text, found) {
    let undecided = text.length
    cookieKeyword.lastIndex = 0
    for (let match = cookieKeyword.exec(text); match !== null; match = cookieKeyword.exec(text)) {
      const at = cookieKeyword.lastIndex
      const start = matchEnd(text, separator, at)
      const head = text.slice(start === -1 ? at : start, at + maxCookieHead)
      const secret = start !== -1 && pair.test(head)
      const end = secret ? firstIndex(text, lineStop, start) : at
      if (secret) found(start, end, 'cookie')
      cookieKeyword.lastIndex = end
      const waiting = start === -1 ? /^[\\"'`\] \t]*$/.test(head) : !/\s/.test(head)
      const open = secret ? end === text.length : at + maxCookieHead > text.length && waiting
      if (open) undecided = Math.min(undecided, match.index)
    }
    return undecided
  },
}

const cookieKeyword = /cookie/gi
const pair = /^[^\s=;]{1,64}=[^;\s]{4}/
const maxCookieHead = 120
const lineStop = /[\r\n"'`\\]/g

const commandNames = `curl mysql mariadb sshpass docker podman redis-cli mongo openssl ldap unzip 7za htpasswd smbclient
  xfreerdp sqlcmd`

/** The password among the arguments of a command such as `curl -u name:password`, also over continued lines. */
export const commandPassword: Detector = {
  classes: ['basic-auth', 'command-password'],
  anchors: commandNames.split(/\s+/).map((text) => ({ text, next: ' ', plausible: followedByArgument })),
  scan(text, found) {
    let undecided = text.length
    for (const match of text.matchAll(commandName)) {
      const command = text.slice(match.index, match.index + maxCommand)
      const lineEnd = command.search(/(?<!\\)\r?\n/)
      const line = lineEnd === -1 ? command : command.slice(0, lineEnd)
      const { option, class: secretClass } = commands.find(({ name }) => name.test(match[1]!))!
      const [, password] = option.exec(line)?.indices ?? []
      if (password !== undefined && isPassword(line.slice(...password))) {
        found(match.index + password[0], match.index + password[1], secretClass)
      }
      if (lineEnd === -1 && match.index + maxCommand >= text.length)
        undecided = Math.min(undecided, match.index)
    }
    return undecided
  },
}

const maxCommand = 600
const commandName =
  /(?<![\w.-])(curl|mysql(?:dump|admin|import|show)?|mariadb(?:-dump|-admin)?|sshpass|docker|podman|redis-cli|mongo(?:sh|dump|restore|export|import)?|openssl|ldap(?:search|modify|add|delete|whoami|passwd)|unzip|7za|htpasswd|smbclient|xfreerdp|sqlcmd)(?=[ \t])/g

const commands: readonly { name: RegExp; option: RegExp; class: string }[] = [
  {
    name: /^curl/,
    option: /[ \t](?:-u|--user|--proxy-user)[ \t=]{0,4}\\*["']?[^\s:"'$]{0,64}:([^\s"'$\\]{3,128})/d,
    class: 'basic-auth',
  },
  { name: /^(?:mysql|mariadb)/, option: passwordAfter('-p'), class: 'command-password' },
  {
    name: /^(?:sshpass|mongo)/,
    option: passwordAfter('-p[ \\t]{0,4}'),
    class: 'command-password',
  },
  {
    name: /^(?:docker|podman)/,
    option:
      /^[a-z]{6}[ \t]{1,8}login(?=[ \t])[^\n;&|]{0,400}?[ \t]-p[ \t]{0,4}\\*["']?(?!-)([^\s"'$\\]{3,128})/d,
    class: 'command-password',
  },
  { name: /^redis/, option: passwordAfter('-a[ \\t]{1,4}'), class: 'command-password' },
  { name: /^openssl/, option: passwordAfter('-pass(?:in|out)?[ \\t]{1,4}pass:'), class: 'command-password' },
  { name: /^ldap/, option: passwordAfter('-[ws][ \\t]{1,4}'), class: 'command-password' },
  { name: /^(?:unzip|sqlcmd)/, option: passwordAfter('-P[ \\t]{0,4}'), class: 'command-password' },
  { name: /^7za/, option: passwordAfter('-p'), class: 'command-password' },
  {
    name: /^htpasswd/,
    option: /[ \t]-[a-zA-Z]{0,6}b[a-zA-Z]{0,6}[ \t]+[^\s]{1,200}[ \t]+[^\s]{1,64}[ \t]+([^\s"'$\\]{3,128})/d,
    class: 'command-password',
  },
  {
    name: /^smbclient/,
    option: /[ \t]-U[ \t]{0,4}["']?[^\s%"']{1,64}%([^\s"'$\\]{3,128})/d,
    class: 'command-password',
  },
  { name: /^xfreerdp/, option: /[ \t]\/p:["']?([^\s"'$\\]{3,128})/d, class: 'command-password' },
]

function passwordAfter(flag: string): RegExp {
  return new RegExp(String.raw`[ \t]${flag}\\*["']?(?!-)([^\s"'$\\]{3,128})`, 'd')
}

function followedByArgument(bytes: Uint8Array, at: number, length: number): boolean {
  // The rest of the name, as in `mysqldump`.
  let i = at
  while (i < length && i < at + 12 && bytes[i]! > 32) i++
  return i >= length || bytes[i] === 32 || bytes[i] === 9
}

function isPassword(value: string): boolean {
  return !/^[0-9]{1,6}$/.test(value) && !/^[<{[]/.test(value)
}

const maxUserPart = 400

/** The password in scheme://user:password@host; databases and queues put theirs there too. */
export const urlPassword: Detector = {
  classes: ['url-password'],
  anchors: [{ text: '://', plausible: hasUserPart }],
  scan(text, found) {
    for (const match of text.matchAll(userPart)) {
      const [, password] = match.indices ?? []
      if (password !== undefined && !isPlaceholder(text.slice(...password)))
        found(...password, 'url-password')
    }
    const last = text.lastIndexOf('://')
    return last !== -1 && last + maxUserPart > text.length && !/[\s"'<>]/.test(text.slice(last))
      ? last
      : text.length
  },
}

// A password with an unescaped slash is taken too, unless it is a port and a path.
const userPart =
  /:\/\/[^\s:@/"'<>`]{0,128}:((?:[^\s"'<>`/?#]{1,200}|(?![0-9]{1,5}[/?#])[^\s"'<>`@]{1,200}))@(?!sha256:)/dg

function isPlaceholder(value: string): boolean {
  return /^(?:\$\{?[A-Za-z_]\w*\}?|\{\{?\w*\}?\}|\*{3,}|%s)$/.test(value)
}

function hasUserPart(bytes: Uint8Array, at: number, length: number): boolean {
  const limit = Math.min(length, at + maxUserPart)
  let named = false
  for (let i = at; i < limit; i++) {
    const byte = bytes[i]!
    if (byte === 64) return true
    if (byte === 58) named = true
    if (byte === 47 && !named) return false
    if (byte <= 32 || byte === 34 || byte === 39) return false
  }
  return limit === length
}

const hex = '0123456789abcdef'

/** The token that stands behind the id of an account of Twilio: `AC…:TOKEN`, `'AC…', 'TOKEN'`. */
export const accountToken: Detector = {
  classes: ['twilio-token'],
  anchors: Array.from(hex, (digit) => ({ text: `AC${digit}`, next: hex, plausible: followedBy(hex, 31) })),
  scan(text, found) {
    let undecided = text.length
    for (const match of text.matchAll(/(?<![A-Za-z0-9])AC[a-f0-9]{32}(?![A-Za-z0-9])/g)) {
      const after = match.index + match[0].length
      const start = matchEnd(text, pairGap, after)
      const end = start === -1 ? -1 : matchEnd(text, /[a-f0-9]{32}(?![A-Za-z0-9])/y, start)
      if (end !== -1) found(start, end, 'twilio-token')
      if (text.length - after < maxPairGap + 32) undecided = Math.min(undecided, match.index)
    }
    return undecided
  },
}

const maxPairGap = 32
const pairGap = /\\{0,3}["'`]?(?:[ \t]{0,4}[:,;/|]\s{0,16}|[ \t]{1,4})\\{0,3}["'`]?/y
