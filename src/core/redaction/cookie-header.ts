import type { Detector } from './detector.ts'
import { firstIndex, matchEnd } from './reading.ts'

/** The values of a Cookie or Set-Cookie header in a text. */
export const cookieHeader: Detector = {
  classes: ['cookie'],
  anchors: [{ text: 'cookie', fold: true }],
  scan(text, found) {
    let undecided = text.length
    for (const match of text.matchAll(/cookie/gi)) {
      const at = match.index + match[0].length
      const start = matchEnd(text, separator, at)
      if (start === -1) {
        if (/^[\\"'`\] \t]*$/.test(text.slice(at, at + 32)) && at + 32 > text.length) undecided = Math.min(undecided, match.index)
        continue
      }
      const end = firstIndex(text, lineStop, start)
      if (/^[^\s=;]{1,64}=[^;\s]{4}/.test(text.slice(start, start + 80))) found(start, end, 'cookie')
      if (end === text.length) undecided = Math.min(undecided, match.index)
    }
    return undecided
  },
}

const separator = /\\*["'`]?\]?[ \t]{0,8}[:=][ \t]{0,8}\\*["'`]?/y
const lineStop = /[\r\n"'`\\]/g
