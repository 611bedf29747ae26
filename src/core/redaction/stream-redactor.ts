import { keyRunEnd, maxGap, maxWait } from './private-key.ts'
import { marker, type Span } from './secret-spans.ts'
import type { TextScanner } from './text-scanner.ts'

/** Redacts a text that arrives in pieces. */
export type StreamRedactor = {
  /** What can be shown now; an end that may still turn out to be a secret is held back. */
  readonly push: (chunk: string) => string
  /** The rest. */
  readonly end: () => string
}

/** With `linesOnly` a text is cut at line breaks only, for rules whose matches reach over spaces. */
export function createStreamRedactor(scanner: TextScanner, linesOnly: boolean): StreamRedactor {
  let held = ''
  let dropping: 'key' | RegExp | undefined
  const redact = (text: string): string => scanner.redact(text, {})

  const release = (): string => {
    let cut = boundary(held, held.length, linesOnly)
    for (let tries = 1; cut > 0; tries++) {
      const undecided = scanner.undecidedFrom(held.slice(0, cut))
      if (undecided >= cut) break
      // One beginning after the other: only the end of a line settles them all.
      cut = tries > maxTries * 2 ? 0 : boundary(held, undecided, linesOnly || tries > maxTries)
    }
    // A marker in the place of a quote can open what was closed: then all of it waits.
    const out = scanner.redactSettled(held.slice(0, cut))
    if (out !== undefined) held = held.slice(cut)
    return (out ?? '') + (held.length > maxWait ? overflow() : '')
  }

  /** Nothing could be decided for too long: a key block, one endless word, or an endless line. */
  const overflow = (): string => {
    const spans = scanner.spans(held)
    const last = spans.at(-1)
    if (last !== undefined && isUnfinished(last)) {
      const out = redact(held.slice(0, last.start)) + marker(last.class)
      dropping = last.class === 'private-key' ? 'key' : lineClasses.test(last.class) ? lineEnd : wordEnd
      held = held.slice(last.end)
      return out
    }
    const whole = redact(held)
    for (let tries = 0; tries < maxTries; tries++) {
      const cut = edge(held, held.length - maxWait / 2 - tries * 64, spans)
      const out = redact(held.slice(0, cut))
      // A cut between a name and its value would show the value.
      if (out + redact(held.slice(cut)) !== whole) continue
      held = held.slice(cut)
      return out
    }
    const lastWord = held.slice(boundary(held, held.length, false))
    held = whole.endsWith(lastWord) ? lastWord : ''
    return whole.slice(0, whole.length - held.length)
  }

  const isUnfinished = (last: Span): boolean =>
    last.class === 'private-key'
      ? last.end >= held.length - maxGap && scanner.undecidedFrom(held) <= last.start
      : last.end === held.length

  /** Leaves the dropped secret behind, if it has ended. */
  const drop = (): boolean => {
    if (dropping === 'key') {
      const footer = footerLine.exec(held)
      held = held.slice(footer === null ? keyRunEnd(held, 0, held.length) : footer.index + footer[0].length)
      if (footer === null && held.length <= maxGap) return false
    } else {
      const end = held.search(dropping!)
      held = end === -1 ? '' : held.slice(end)
      if (end === -1) return false
    }
    dropping = undefined
    return true
  }

  return {
    push(chunk) {
      held += chunk
      if (dropping !== undefined && !drop()) return ''
      return boundaryChar.test(chunk) || held.length > maxWait ? release() : ''
    },
    end() {
      const rest = dropping === 'key' ? '' : redact(held)
      held = ''
      dropping = undefined
      return rest
    },
  }
}

const maxTries = 8
const boundaryChar = /[\s\u0080-\uffff]/
const wordEnd = /[\s"'`<>&;,\u0080-\uffff]/
const lineEnd = /[\r\n"'`]/
const lineClasses = /^(?:cookie|authorization)$/
const footerLine = /-----END [A-Z0-9 ]{1,60}-----/

/** The last index up to `limit` where no word is cut in two; 0 if there is none. */
function boundary(text: string, limit: number, linesOnly: boolean): number {
  for (let at = limit; at > 0; at--) {
    const before = text.charCodeAt(at - 1)
    if (linesOnly ? before === 10 : isBreak(before) || (before > 127 && !isHighSurrogate(before))) return at
  }
  return 0
}

/** A place to cut a long text by force: in no span and in no pair of surrogates. */
function edge(text: string, at: number, spans: readonly Span[]): number {
  const covering = spans.find((span) => span.start < at && span.end > at)
  const cut = covering?.end ?? at
  return isHighSurrogate(text.charCodeAt(cut - 1)) ? cut - 1 : cut
}

function isBreak(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13)
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}
