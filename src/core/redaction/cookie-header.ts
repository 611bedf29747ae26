import type { Detector } from './detector.ts'
import { firstIndex, matchEnd } from './reading.ts'

/** The values of a Cookie or Set-Cookie header in a text. */
export const cookieHeader: Detector = {
  classes: ['cookie'],
  anchors: [{ text: 'cookie', fold: true }],
  scan(text, found) {
    let undecided = text.length
    keyword.lastIndex = 0
    for (let match = keyword.exec(text); match !== null; match = keyword.exec(text)) {
      const at = keyword.lastIndex
      const start = matchEnd(text, separator, at)
      const head = text.slice(start === -1 ? at : start, at + maxHead)
      const secret = start !== -1 && pair.test(head)
      const end = secret ? firstIndex(text, lineStop, start) : at
      if (secret) found(start, end, 'cookie')
      keyword.lastIndex = end
      const waiting = start === -1 ? /^[\\"'`\] \t]*$/.test(head) : !/\s/.test(head)
      const open = secret ? end === text.length : at + maxHead > text.length && waiting
      if (open) undecided = Math.min(undecided, match.index)
    }
    return undecided
  },
}

const keyword = /cookie/gi
const pair = /^[^\s=;]{1,64}=[^;\s]{4}/
const maxHead = 120
const separator = /\\*["'`]?\]?[ \t]{0,8}[:=][ \t]{0,8}\\*["'`]?/y
const lineStop = /[\r\n"'`\\]/g
