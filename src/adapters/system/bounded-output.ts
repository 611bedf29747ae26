import { cutText } from './cut-text.ts'

/** What is kept of an output of any length. */
export type BoundedOutput = {
  add(text: string): void
  result(): { readonly text: string; readonly isTruncated: boolean }
}

/** Keeps the beginning and the end, and counts what was between them. */
export function boundedOutput(mostChars: number): BoundedOutput {
  const half = Math.floor(mostChars / 2)
  let head = ''
  let tail = ''
  let length = 0
  return {
    add(text) {
      length += text.length
      const room = half - head.length
      if (room > 0) head += text.slice(0, room)
      tail += room > 0 ? text.slice(room) : text
      if (tail.length > 4 * half) tail = tail.slice(-half)
    },
    result() {
      const left = length - head.length - half
      if (left <= 0) return { text: head + tail, isTruncated: false }
      const end = tail.slice(-half)
      const begin = cutText(`${head} `, head.length)
      // The second half of a character says nothing without the first.
      const clean = /^[\uDC00-\uDFFF]/.test(end) ? end.slice(1) : end
      return { text: `${begin}\n[… ${left} characters left out …]\n${clean}`, isTruncated: true }
    },
  }
}
