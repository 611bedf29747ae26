/** Literal text that every match of a detector contains; `plausible` looks at the bytes that follow it. */
export type Anchor = {
  readonly text: string
  /** Upper and lower case are the same. */
  readonly fold?: boolean
  /** All characters that may come next; it keeps a literal of three characters from being looked at too often. */
  readonly next?: string
  /** `at` is the byte after the anchor. It must answer true when the bytes end too early to tell. */
  readonly plausible?: (bytes: Uint8Array, at: number, length: number) => boolean
}

/** Told once per secret, with the range to replace and the class to name in the marker. */
export type Found = (start: number, end: number, secretClass: string) => void

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

const wordByte = new Uint8Array(256)
for (const char of wordChars) wordByte[char.charCodeAt(0)] = 1

/** True when at least `count` letters, digits, `_` or `-` follow, or the bytes end before that. */
export function followedByWord(count: number): NonNullable<Anchor['plausible']> {
  return (bytes, at, length) => {
    const end = Math.min(at + count, length)
    for (let i = at; i < end; i++) if (wordByte[bytes[i]!] === 0) return false
    return true
  }
}
