import * as z from 'zod'
import type { Tool, ToolContext, ToolOutcome } from '../../ports/tools.ts'
import { defineTool, failure } from '../system/define-tool.ts'
import { placeInside } from '../system/place.ts'
import { FilePath } from './input.ts'
import { type OpenFile, openFile } from './open-file.ts'
import { readLines } from './read-lines.ts'

const mostLines = 2000
const mostBytes = 256 << 10
const mostLineChars = 2000

const Input = z.strictObject({
  file_path: FilePath.describe('The file, absolute or relative to the project'),
  offset: z.int().min(0).optional().describe('The first line to read, from 1'),
  limit: z.int().min(1).optional().describe(`How many lines to read; ${mostLines} when left out`),
})

export const readTool: Tool = defineTool({
  name: 'Read',
  description: [
    `Reads a text file and answers its lines, each after its number and a tab.`,
    `It reads ${mostLines} lines at most unless limit says otherwise, and never more than ${mostBytes >> 10} KB; use offset to go on.`,
    'Read a file before you change it. For a folder use Glob.',
  ].join(' '),
  category: 'perception',
  input: Input,
  run: read,
})

async function read(input: z.output<typeof Input>, context: ToolContext): Promise<ToolOutcome> {
  const place = await placeInside(context.workspace, input.file_path)
  using file = openFile(place)
  const { size, mtimeMs } = file.stat
  const from = Math.max(1, input.offset ?? 1)
  const page = await readPage(file, { from, limit: input.limit ?? mostLines, signal: context.signal })
  if (page === 'binary')
    return failure(`${input.file_path} is a binary file of ${size} bytes; it cannot be read as text`)
  context.seen.set(place.full, { mtimeMs, size })
  if (page.count === 0 && page.last === 0)
    return { text: `${input.file_path} is there and empty.`, isError: false }
  if (page.count === 0)
    return failure(`${input.file_path} has only ${page.last} lines; choose an offset up to that`)
  if (!page.hasMore) return { text: page.text, isError: false }
  const next = from + page.count
  const note = `[the file goes on: read it again with offset ${next}]`
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
