import { read, readSync } from 'node:fs'
import { promisify } from 'node:util'
import { cutText } from '../system/cut-text.ts'
import type { OpenFile } from './open-file.ts'

/** A line without its end; `leftOut` counts the bytes of a long one that were not kept. */
export type Line = { readonly number: number; readonly text: string; readonly leftOut: number }

/** What came with one look into the file. */
export type LineBatch = {
  readonly lines: readonly Line[]
  /** How many lines have ended so far, with those that were not kept. */
  readonly count: number
  readonly hasNul: boolean
}

type Options = {
  /** Lines before the first and after the last are counted and not kept. */
  readonly from?: number
  readonly to?: number
  readonly mostChars: number
  /** For a single file: what fits one look is read at once, and not left to a thread, which takes far longer. */
  readonly isSingle?: boolean
  readonly signal: AbortSignal
}

const readLater = promisify(read)
const chunkBytes = 64 << 10
const newline = 10

/** Reads a regular file of any size line by line; memory is bounded, whatever is in it. */
export async function* readLines(
  { fd, stat }: OpenFile,
  { from = 1, to = Infinity, mostChars, isSingle = false, signal }: Options,
): AsyncGenerator<LineBatch> {
  const chunk = Buffer.allocUnsafe(chunkBytes)
  const isAtOnce = isSingle && stat.size < chunkBytes
  // A character of UTF-16 takes three bytes at most, so that a cut one is never among those that are kept.
  const mostBytes = 4 * mostChars
  let number = 1
  let held: Buffer[] = []
  let heldBytes = 0
  let lineBytes = 0

  const isKept = () => number >= from && number <= to
  const add = (begin: number, end: number): void => {
    lineBytes += end - begin
    if (!isKept() || heldBytes >= mostBytes) return
    const kept = Buffer.from(chunk.subarray(begin, Math.min(end, begin + mostBytes - heldBytes)))
    held.push(kept)
    heldBytes += kept.length
  }
  const take = (): Line | undefined => {
    const line = isKept() ? makeLine(number, Buffer.concat(held), { lineBytes, mostChars }) : undefined
    number += 1
    held = []
    heldBytes = 0
    lineBytes = 0
    return line
  }

  for (;;) {
    signal.throwIfAborted()
    const bytesRead = isAtOnce
      ? readSync(fd, chunk, 0, chunkBytes, null)
      : (await readLater(fd, chunk, 0, chunkBytes, null)).bytesRead
    const part = chunk.subarray(0, bytesRead)
    const lines: Line[] = []
    let begin = 0
    for (let end = part.indexOf(newline); end !== -1; end = part.indexOf(newline, begin)) {
      add(begin, end)
      const line = take()
      if (line) lines.push(line)
      begin = end + 1
    }
    add(begin, bytesRead)
    const isEnd = bytesRead < chunkBytes
    if (isEnd && lineBytes > 0) {
      const last = take()
      if (last) lines.push(last)
    }
    yield { lines, count: number - 1, hasNul: part.includes(0) }
    if (isEnd) return
  }
}

function makeLine(
  number: number,
  kept: Buffer,
  { lineBytes, mostChars }: { readonly lineBytes: number; readonly mostChars: number },
): Line {
  const whole = kept.toString('utf8')
  const text = whole.endsWith('\r') && kept.length === lineBytes ? whole.slice(0, -1) : whole
  if (text.length <= mostChars && kept.length === lineBytes) return { number, text, leftOut: 0 }
  const cut = cutText(text, mostChars)
  return { number, text: cut, leftOut: lineBytes - Buffer.byteLength(cut) }
}
