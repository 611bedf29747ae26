import { join } from 'node:path'
import { createContext, Script } from 'node:vm'
import * as z from 'zod'
import { AppError } from '../../contract/errors.ts'
import { findCatastrophe } from '../../contract/pattern-safety.ts'
import type { Place } from '../system/place.ts'
import { type OpenFile, openFile } from './held-folder.ts'
import { type Line, readLines } from './read-tool.ts'
import { type Ending, streamProgram } from './stream-program.ts'

/** What is looked for in each file. */
export type Query = {
  readonly pattern: string
  readonly isCaseless: boolean
  /** Whether a match may span lines. */
  readonly isMultiline: boolean
  /** Lines to show around a match. */
  readonly before: number
  readonly after: number
  /** Whether one match tells enough of a file. */
  readonly isFirstOnly: boolean
  /** Of one file; none where only the number counts. */
  readonly mostLines: number
}

/** A line that matches, or one around it. */
type FoundLine = { readonly number: number; readonly text: string; readonly isMatch: boolean }

/** What was found in one file. */
export type Found = {
  readonly file: string
  /** The first ones, in order. */
  readonly lines: readonly FoundLine[]
  /** How many lines match, also those that are not kept. */
  readonly count: number
}

/** Looks through text files below a folder in their order; binary ones give nothing. */
type Search = (
  files: readonly string[],
  query: Query,
  where: { readonly workspace: string; readonly signal: AbortSignal },
) => AsyncGenerator<Found>

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

/** Of a longer line only the beginning is looked at. */
const mostLineChars = 10_000
/** Matches that span lines are looked for in whole files. */
const mostWholeBytes = 4 << 20

/** Looks through files where there is no ripgrep. */
export const searchByReading: Search = async function* (files, query, { workspace, signal }) {
  const pattern = linePattern(query)
  for (const file of files) {
    signal.throwIfAborted()
    const place = { workspace, full: join(workspace, file), relative: file }
    using opened = readable(place)
    if (!opened || (query.isMultiline && opened.stat.size > mostWholeBytes)) continue
    const found = newFound(query)
    let isBinary = false
    for await (const lines of batches(opened, { query, signal })) {
      isBinary = lines === 'binary'
      if (lines === 'binary') break
      found.add(lines, pattern)
      if (query.isFirstOnly && found.count() > 0) break
    }
    if (!isBinary && found.count() > 0)
      yield { file, lines: found.lines, count: found.count() } satisfies Found
  }
}

type Batch = readonly Line[] | 'binary'

/** The lines of a file as they are looked at: all at once when a match may span them. */
async function* batches(
  file: OpenFile,
  { query, signal }: { readonly query: Query; readonly signal: AbortSignal },
): AsyncGenerator<Batch> {
  const all: Line[] = []
  for await (const { lines, hasNul } of readLines(file, { mostChars: mostLineChars, signal })) {
    if (hasNul) return yield 'binary'
    if (query.isMultiline) all.push(...lines)
    else yield lines
  }
  if (query.isMultiline) yield all
}

/** Collects matches with the lines around them, over the seams of batches. */
function newFound({ before, after, mostLines }: Query) {
  const lines: FoundLine[] = []
  let count = 0
  let last = 0
  let showUntil = 0
  let earlier: readonly Line[] = []
  const show = ({ number, text }: Line, isMatch: boolean): void => {
    if (number <= last || lines.length >= mostLines) return
    last = number
    lines.push({ number, text, isMatch })
  }
  return {
    lines,
    count: () => count,
    add(batch: readonly Line[], pattern: LinePattern) {
      const matching = new Set(pattern(batch.map((line) => line.text)))
      const known = [...earlier, ...batch]
      for (const [i, line] of batch.entries()) {
        if (matching.has(i)) {
          count += 1
          const at = earlier.length + i
          for (const one of known.slice(Math.max(0, at - before), at)) show(one, false)
          show(line, true)
          showUntil = line.number + after
        } else if (line.number <= showUntil) show(line, false)
      }
      earlier = before === 0 ? [] : known.slice(-before)
    },
  }
}

const unreadable = ['ENOENT', 'EACCES', 'EPERM', 'ELOOP', 'ENOTDIR', 'ENXIO', 'conflict', 'invalid']

function readable(place: Place): OpenFile | undefined {
  try {
    return openFile(place)
  } catch (error) {
    if (unreadable.includes((error as { code?: string }).code ?? '')) return undefined
    throw error
  }
}

/** Which of some lines match, by their place. */
type LinePattern = (lines: readonly string[]) => readonly number[]

const longestMs = 500

/** A pattern that can hold up nothing: what looks dangerous is refused, and the rest has its time taken. */
function linePattern({ pattern, isCaseless, isMultiline }: Query): LinePattern {
  const danger = findCatastrophe(pattern)
  if (danger !== undefined)
    throw new AppError('invalid', `The pattern could take forever: ${danger}; write it without that`)
  const flags = `${isCaseless ? 'i' : ''}${isMultiline ? 'gms' : ''}`
  // Loose first: what is an escape elsewhere is none in the strict mode, which classes such as \p{L} need.
  const needsStrict = /\\[pP]\{/.test(pattern)
  const sandbox = createContext({ pattern: compile(pattern, needsStrict ? `${flags}u` : flags), given: [] })
  const script = isMultiline ? spanning : single
  return (lines) => {
    if (lines.length === 0) return []
    sandbox['given'] = lines
    try {
      return [...(script.runInContext(sandbox, { timeout: longestMs }) as number[])]
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
      throw new AppError('invalid', 'The pattern takes too long on these files; write a simpler one')
    }
  }
}

function compile(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new AppError('invalid', `The pattern cannot be used: ${error.message}`)
  }
}

const single = new Script('given.flatMap((line, i) => (pattern.test(line) ? [i] : []))')

const spanning = new Script(`{
  const text = given.join('\\n')
  const found = new Set()
  let at = 0, line = 0
  const lineOf = (place) => {
    for (let end = text.indexOf('\\n', at); end !== -1 && end < place; end = text.indexOf('\\n', at)) { line += 1; at = end + 1 }
    return line
  }
  for (const match of text.matchAll(pattern)) {
    const first = lineOf(match.index)
    const end = lineOf(match.index + Math.max(0, match[0].length - 1))
    for (let i = first; i <= end; i++) found.add(i)
  }
  ;[...found]
}`)
