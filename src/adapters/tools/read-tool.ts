import { read, readSync } from 'node:fs'
import { promisify } from 'node:util'
import * as z from 'zod'
import type { Tool, ToolContext, ToolOutcome } from '../../ports/tools.ts'
import { cutText, defineTool, failure } from '../system/define-tool.ts'
import { placeInside } from '../system/place.ts'
import { type OpenFile, openFile } from './held-folder.ts'
import { FilePath } from './workspace-access.ts'

const mostLines = 2000
const mostBytes = 256 << 10
const mostLineChars = 2000

const Input = z.strictObject({
  file_path: FilePath.describe('The file, absolute or relative to the project'),
  offset: z.int().min(0).optional().describe('The first line to read, from 1'),
  limit: z.int().min(1).optional().describe(`How many lines to read; ${mostLines} when left out`),
})

const readLater = promisify(read)
const chunkBytes = 64 << 10
const newline = 10

export const readTool: Tool = defineTool({
  name: 'Read',
  description: [
    `Reads a text file and answers its lines, each after its number and a tab.`,
    `It reads ${mostLines} lines at most unless limit says otherwise, and never more than ${mostBytes >> 10} KB; use offset to continue.`,
    'Read a file before you change it. For a folder use Glob.',
  ].join(' '),
  category: 'perception',
  input: Input,
  run: readFile,
})

async function readFile(input: z.output<typeof Input>, context: ToolContext): Promise<ToolOutcome> {
  const place = await placeInside(context.workspace, input.file_path)
  using file = openFile(place)
  const { size, mtimeMs } = file.stat
  const from = Math.max(1, input.offset ?? 1)
  const page = await readPage(file, { from, limit: input.limit ?? mostLines, signal: context.signal })
  if (page === 'binary')
    return failure(`${input.file_path} is a binary file of ${size} bytes; it cannot be read as text`)
  context.seen.set(place.full, { mtimeMs, size })
  if (page.count === 0 && page.last === 0)
    return { text: `${input.file_path} exists and is empty.`, isError: false }
  if (page.count === 0)
    return failure(`${input.file_path} has only ${page.last} lines; choose an offset up to that`)
  if (!page.hasMore) return { text: page.text, isError: false }
  const next = from + page.count
  const note = `[the file continues: read it again with offset ${next}]`
  return { text: `${page.text}\n${note}`, isError: false, isTruncated: true }
}

type Page = {
  readonly text: string
  /** How many lines it has. */
  readonly count: number
  /** The last line of the file, as far as it was read. */
  readonly last: number
  readonly hasMore: boolean
}

async function readPage(
  file: OpenFile,
  { from, limit, signal }: { readonly from: number; readonly limit: number; readonly signal: AbortSignal },
): Promise<Page | 'binary'> {
  const lines: string[] = []
  let bytes = 0
  let last = 0
  // One more than is shown tells whether there is more.
  for await (const batch of readLines(file, {
    from,
    to: from + limit,
    mostChars: mostLineChars,
    isSingle: true,
    signal,
  })) {
    if (batch.hasNul) return 'binary'
    last = batch.count
    for (const { number, text, leftOut } of batch.lines) {
      const mark = leftOut > 0 ? `… [${leftOut} more bytes of this line left out]` : ''
      const line = `${String(number).padStart(6)}\t${text}${mark}`
      bytes += Buffer.byteLength(line) + 1
      if (lines.length === limit || bytes > mostBytes)
        return { text: lines.join('\n'), count: lines.length, last, hasMore: true }
      lines.push(line)
    }
  }
  return { text: lines.join('\n'), count: lines.length, last, hasMore: false }
}

/** A line without its end; `leftOut` counts the bytes of a long one that were not kept. */
export type Line = { readonly number: number; readonly text: string; readonly leftOut: number }

/** What came with one look into the file. */
type LineBatch = {
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
