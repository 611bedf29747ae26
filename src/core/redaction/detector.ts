/** Literal text that every match of a detector contains; `plausible` looks at the bytes that follow it. */
export type Anchor = {
  readonly text: string
  /** Upper and lower case are the same. */
  readonly fold?: boolean
  /** All characters that may come next; it keeps a literal of three characters from being looked at too often. */
  readonly next?: string
  /** All characters that may come before it. A literal of one character has these and `next`; others have three and more. */
  readonly before?: string
  /** `at` is the byte after the anchor. It must answer true when the bytes end too early to tell. */
  readonly plausible?: (bytes: Uint8Array, at: number, length: number) => boolean
}

/** Told once per secret, with the range to replace and the class to name in the marker. */
type Found = (start: number, end: number, secretClass: string) => void

/** One way of finding secrets in a text. */
export type Detector = {
  readonly classes: readonly string[]
  /** Empty: there is no literal to look for, so the detector sees every string. */
  readonly anchors: readonly Anchor[]
  /**
   * Reports every secret and returns the index from which more text could change the answer, or the
   * length of the text. A match without white space and non-ASCII characters needs no such index.
   */
  readonly scan: (text: string, found: Found) => number
}

/** A detector from a regular expression whose matches hold no white space. */
export function patternDetector(options: {
  readonly class: string
  readonly anchors: readonly Anchor[]
  readonly pattern: RegExp
}): Detector {
  const pattern = new RegExp(options.pattern.source, `${options.pattern.flags.replace('g', '')}g`)
  return {
    classes: [options.class],
    anchors: options.anchors,
    scan(text, found) {
      for (const match of text.matchAll(pattern)) {
        found(match.index, match.index + match[0].length, options.class)
      }
      return text.length
    },
  }
}

/** The characters tokens are made of. */
export const wordChars = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-'

/** True when at least `count` of these characters follow, or the bytes end before that. */
export function followedBy(chars: string, count: number): NonNullable<Anchor['plausible']> {
  const member = new Uint8Array(256)
  for (const char of chars) member[char.charCodeAt(0)] = 1
  return (bytes, at, length) => {
    const end = Math.min(at + count, length)
    for (let i = at; i < end; i++) if (member[bytes[i]!] === 0) return false
    return true
  }
}

/** A detector of secrets that are known by a name which stands before them in the same line, not far away. */
export function namedDetector(options: {
  readonly class: string
  readonly names: readonly string[]
  readonly pattern: RegExp
}): Detector {
  const name = new RegExp(options.names.map((text) => text.replace(/[.(]/g, String.raw`\$&`)).join('|'), 'gi')
  const pattern = new RegExp(options.pattern.source, 'g')
  const whole = new RegExp(options.pattern.source, 'y')
  return {
    classes: [options.class],
    anchors: options.names.map((text) => ({ text, fold: true })),
    scan(text, found) {
      let undecided = text.length
      name.lastIndex = 0
      for (let match = name.exec(text); match !== null; match = name.exec(text)) {
        const reach = text.slice(match.index, match.index + maxReach)
        const line = reach.slice(0, firstIndex(reach, lineBreak, 0))
        for (const secret of line.matchAll(pattern)) {
          const start = match.index + secret.index
          if (start < name.lastIndex || secret.index > maxDistance) continue
          const end = Math.max(start + secret[0].length, matchEnd(text, whole, start))
          found(start, end, options.class)
          name.lastIndex = end
        }
        if (match.index + line.length === text.length) undecided = Math.min(undecided, match.index)
      }
      return undecided
    },
  }
}

const lineBreak = /[\r\n]/g
const maxDistance = 120
const maxReach = 400

/** The index after spaces and tabs, at most `limit` of them: no reader walks over unbounded space. */
export function skipSpaces(text: string, at: number, limit = 16): number {
  const stop = Math.min(text.length, at + limit)
  let end = at
  while (end < stop && (text[end] === ' ' || text[end] === '\t')) end++
  return end
}

/** Where a global pattern next matches, or the end of the text. */
export function firstIndex(text: string, pattern: RegExp, from: number): number {
  pattern.lastIndex = from
  return pattern.exec(text)?.index ?? text.length
}

/** The index after what a sticky pattern matches at this place, or -1. */
export function matchEnd(text: string, pattern: RegExp, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : -1
}

/** True when the rest of the text from here is spaces only, so that more text could still follow on. */
export function endsAt(text: string, at: number): boolean {
  return skipSpaces(text, at) === text.length
}

/** A variable, template or placeholder stands where the value would be. */
export function isReference(value: string): boolean {
  return references.test(value)
}

const references =
  /^(?:\$(?:[A-Za-z_]\w*$|[{(])|%[A-Za-z_]\w*%$|\{\{|<[^>]*>?$|process\.env\b|os\.(?:environ|getenv)|import\.meta|env\.[A-Z]|getenv|\*{3,}$|\.{3}|[xX]{4,}$|your[-_ ]|op:\/\/|vault:|arn:)/
