import { marker } from './marker.ts'
import { keyRunEnd, maxWait } from './private-key.ts'
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
  let dropping: 'key' | 'token' | undefined
  const redact = (text: string): string => scanner.redact(text, {})

  const release = (): string => {
    let cut = boundary(held, held.length, linesOnly)
    while (cut > 0) {
      const undecided = scanner.undecidedFrom(held.slice(0, cut))
      if (undecided >= cut) break
      cut = boundary(held, undecided, linesOnly)
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
    if (last !== undefined && last.end >= held.length - keyTail(last.class)) {
      const out = redact(held.slice(0, last.start)) + marker(last.class)
      dropping = last.class === 'private-key' ? 'key' : 'token'
      held = dropping === 'key' ? held.slice(last.end) : ''
      return out
    }
    let cut = held.length - maxWait / 2
    for (const span of spans) if (span.start < cut && span.end > cut) cut = span.end
    const out = redact(held.slice(0, cut))
    held = held.slice(cut)
    return out
  }

  /** Leaves the dropped secret behind, if it has ended. */
  const drop = (): boolean => {
    if (dropping === 'token') {
      const end = held.search(tokenEnd)
      held = end === -1 ? '' : held.slice(end)
      if (end === -1) return false
    } else {
      const footer = footerLine.exec(held)
      if (footer === null) {
        held = held.slice(keyRunEnd(held, 0, held.length))
        if (held.length <= keyTail('private-key')) return false
      } else held = held.slice(footer.index + footer[0].length)
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

const boundaryChar = /[\s\u0080-\uffff]/
const tokenEnd = /[\s"'`<>&;,\u0080-\uffff]/
const footerLine = /-----END [A-Z0-9 ]{1,60}-----/

function keyTail(secretClass: string): number {
  return secretClass === 'private-key' ? 200 : 0
}

/** The last index up to `limit` where no word is cut in two; 0 if there is none. */
function boundary(text: string, limit: number, linesOnly: boolean): number {
  for (let at = limit; at > 0; at--) {
    const before = text.charCodeAt(at - 1)
    if (linesOnly ? before === 10 : isBreak(before) || (before > 127 && !isHighSurrogate(before))) return at
  }
  return 0
}

function isBreak(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13)
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}
