import * as z from 'zod'
import { AppError } from '../../contract/errors.ts'
import { type Found, type FoundLine, type Query, type Search } from './search.ts'
import { type Ending, streamProgram } from './stream-program.ts'

/** The arguments of one program may take two megabytes together. */
const mostArgumentBytes = 400_000

const Text = z.union([
  z.object({ text: z.string() }).transform(({ text }) => text),
  z.object({ bytes: z.string() }).transform(({ bytes }) => Buffer.from(bytes, 'base64').toString('utf8')),
])
const LineMessage = z.object({
  type: z.enum(['match', 'context']),
  data: z.object({ lines: Text, line_number: z.int() }),
})
const EndMessage = z.object({
  type: z.literal('end'),
  data: z.object({
    path: Text,
    binary_offset: z.int().nullable(),
    stats: z.object({ matched_lines: z.int() }),
  }),
})

/** Looks through files with ripgrep, which takes time in proportion to the text, whatever the pattern. */
export const searchWithRipgrep = (program: string): Search =>
  async function* (files, query, { workspace, signal }) {
    const options = { folder: workspace, env: { LC_ALL: 'C.UTF-8' }, separator: '\n', signal } as const
    for (const batch of batchesOf(files)) {
      const ending = yield* foundIn(
        streamProgram(program, [...argumentsOf(query), '--', ...batch], options),
        query,
      )
      if (ending === undefined)
        throw new AppError('unavailable', `${program} does not start; repeat the call`)
      // Files that went away meanwhile make it fail without a word.
      if (ending.code !== 0 && ending.code !== 1 && ending.stderr !== '')
        throw new AppError('invalid', `The pattern cannot be used: ${ending.stderr.trim()}`)
    }
  }

function argumentsOf({
  pattern,
  isCaseless,
  isMultiline,
  before,
  after,
  isFirstOnly,
}: Query): readonly string[] {
  return [
    ['--json', '--no-config', '--no-messages', '--threads', '1', '--crlf', '--encoding', 'none'],
    isCaseless ? ['--ignore-case'] : [],
    isMultiline ? ['--multiline', '--multiline-dotall'] : [],
    isFirstOnly ? ['--max-count', '1'] : [],
    ['--before-context', String(before), '--after-context', String(after), '--regexp', pattern],
  ].flat()
}

function* batchesOf(files: readonly string[]): Generator<readonly string[]> {
  let batch: string[] = []
  let bytes = 0
  for (const file of files) {
    const size = Buffer.byteLength(file) + 16
    if (bytes + size > mostArgumentBytes) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(file)
    bytes += size
  }
  if (batch.length > 0) yield batch
}

/** Only at its end a file is known to be no binary one. */
async function* foundIn(
  program: ReturnType<typeof streamProgram>,
  { mostLines }: Query,
): AsyncGenerator<Found, Ending> {
  let lines: FoundLine[] = []
  try {
    for (;;) {
      const { value, done } = await program.next()
      if (done) return value
      for (const record of value) {
        if (/^\{"type":"(match|context)"/.test(record)) {
          if (lines.length < mostLines) lines.push(...linesOf(record))
        } else if (record.startsWith('{"type":"end"')) {
          const { path, binary_offset, stats } = EndMessage.parse(JSON.parse(record)).data
          if (binary_offset === null && stats.matched_lines > 0)
            yield { file: path, lines, count: stats.matched_lines }
          lines = []
        }
      }
    }
  } finally {
    await program.return(undefined)
  }
}

function linesOf(record: string): readonly FoundLine[] {
  const isMatch = record.startsWith('{"type":"match"')
  try {
    const { lines, line_number } = LineMessage.parse(JSON.parse(record)).data
    const texts = lines.replace(/\r?\n$/, '').split(/\r?\n/)
    return texts.map((text, i) => ({ number: line_number + i, text, isMatch }))
  } catch (error) {
    // The record of a very long line was cut and is no JSON any more.
    if (!(error instanceof SyntaxError)) throw error
    return [{ number: 0, text: '[a line that is too long to show]', isMatch }]
  }
}
