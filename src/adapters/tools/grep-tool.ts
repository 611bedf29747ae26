import * as z from 'zod'
import { linked } from '../../contract/linked.ts'
import { nothingFound, type Tool, type ToolContext, type ToolOutcome } from '../../ports/tools.ts'
import { cutText, defineTool } from '../system/define-tool.ts'
import { placeInside } from '../system/place.ts'
import { findProgram } from '../system/run-program.ts'
import { globPattern, type ListedFile, listFiles, mustExist } from './glob-tool.ts'
import { type Found, type Query, searchByReading, searchWithRipgrep } from './search-files.ts'
import { FilePath, type MatchesGlob } from './workspace-access.ts'

const usualLimit = 250
const mostFileBytes = 32 << 20
const longestMs = 30_000

const Around = z.int().min(0).max(100)

const Input = z.strictObject({
  pattern: z.string().min(1).max(1000).describe('A regular expression; a literal brace is written \\{'),
  path: FilePath.optional().describe('A file or folder to look in; the project when left out'),
  glob: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe('Only files whose path fits, such as *.ts; !*.ts is all others'),
  output_mode: z
    .enum(['content', 'files_with_matches', 'count'])
    .optional()
    .describe('content shows lines, count how many there are per file; files_with_matches when left out'),
  '-i': z.boolean().optional().describe('Upper and lower case are the same'),
  '-n': z.boolean().optional().describe('Line numbers in content; true when left out'),
  '-A': Around.optional().describe('Lines to show after each match'),
  '-B': Around.optional().describe('Lines to show before each match'),
  '-C': Around.optional().describe('Lines to show before and after each match'),
  head_limit: z
    .int()
    .min(0)
    .optional()
    .describe(`How many lines or files to answer; ${usualLimit} when left out, 0 for all that fits`),
  multiline: z.boolean().optional().describe('A match may span lines, and . is a line end too'),
})

type Parts = {
  readonly matchesGlob: MatchesGlob
  readonly env: Readonly<Record<string, string>>
}

export const grepTool = (parts: Parts): Tool =>
  defineTool({
    name: 'Grep',
    description: [
      'Looks for a regular expression in the text files of the project.',
      'It answers the files that match, the newest first, or with output_mode the lines or their number.',
      'Binary files and those that git ignores are left out, unless path names an ignored folder.',
    ].join(' '),
    category: 'perception',
    input: Input,
    run: (input, context) => grep(input, context, parts),
  })

async function grep(
  input: z.output<typeof Input>,
  context: ToolContext,
  { matchesGlob, env }: Parts,
): Promise<ToolOutcome> {
  const mode: GrepMode = input.output_mode ?? 'files_with_matches'
  const { path = '.', glob } = input
  const base = await placeInside(context.workspace, path)
  await mustExist(base, path)
  using stop = linked(context.signal)
  const timer = setTimeout(() => stop.abort(tooLate), longestMs)
  try {
    const { files, isCut } = await listFiles(base, {
      wants: wantedBy(glob, matchesGlob),
      env,
      signal: stop.signal,
    })
    const small = files.filter(({ size }) => size <= mostFileBytes)
    const ripgrep = await findProgram('rg', env['PATH'])
    const search = ripgrep === undefined ? searchByReading : searchWithRipgrep(ripgrep)
    const limit = input.head_limit === 0 ? Infinity : (input.head_limit ?? usualLimit)
    const query = queryOf(input, mode, limit)
    const where = { workspace: base.workspace, signal: stop.signal }
    const report = await grepReport(search(ordered(small, mode), query, where), {
      mode,
      hasNumbers: input['-n'] ?? true,
      limit,
      isTooLate: (error) => error === tooLate || stop.signal.reason === tooLate,
    })
    const notes = [
      ...report.notes,
      ...(isCut ? ['there are more files than could be looked at; name a folder in path'] : []),
      ...(small.length < files.length
        ? [`${files.length - small.length} files are too large and were left out`]
        : []),
    ]
    const text = [...report.lines, ...notes.map((note) => `[${note}]`)].join('\n')
    return {
      text: report.lines.length === 0 ? [nothingFound.lines, text].join('\n').trim() : text,
      isError: false,
      ...(notes.length > 0 && { isTruncated: true as const }),
    }
  } finally {
    clearTimeout(timer)
  }
}

const tooLate = new Error('the search took too long')

function wantedBy(glob: string | undefined, matchesGlob: MatchesGlob): (path: string) => boolean {
  if (glob === undefined) return () => true
  const isOther = glob.startsWith('!')
  const fits = globPattern(isOther ? glob.slice(1) : glob, matchesGlob)
  return isOther ? (path) => !fits(path) : fits
}

function queryOf(input: z.output<typeof Input>, mode: GrepMode, limit: number): Query {
  const around = (lines: number | undefined) => (mode === 'content' ? (lines ?? input['-C'] ?? 0) : 0)
  return {
    pattern: input.pattern,
    isCaseless: input['-i'] ?? false,
    isMultiline: input.multiline ?? false,
    before: around(input['-B']),
    after: around(input['-A']),
    isFirstOnly: mode === 'files_with_matches',
    mostLines: mode === 'content' ? Math.min(limit + 1, mostShown) : 0,
  }
}

/** Files are told newest first, lines in the order of their paths. */
const ordered = (files: readonly ListedFile[], mode: GrepMode): readonly string[] =>
  files
    .toSorted(
      (a, b) => (mode === 'files_with_matches' ? b.mtimeMs - a.mtimeMs : 0) || (a.path < b.path ? -1 : 1),
    )
    .map(({ path }) => path)

type GrepMode = 'content' | 'files_with_matches' | 'count'

type Options = {
  readonly mode: GrepMode
  readonly hasNumbers: boolean
  /** Lines of the answer. */
  readonly limit: number
  readonly isTooLate: (error: unknown) => boolean
}

type Report = { readonly lines: readonly string[]; readonly notes: readonly string[] }

const mostChars = 30_000
const mostLineChars = 500
/** More lines than an answer has room for, however short they are. */
const mostShown = mostChars / 2

/** Puts what was found into lines, until there are enough of them. */
async function grepReport(found: AsyncIterable<Found>, options: Options): Promise<Report> {
  const { limit, isTooLate } = options
  const lines: string[] = []
  let count = 0
  let chars = 0
  try {
    for await (const one of found) {
      for (const line of linesOf(one, options, lines.length > 0)) {
        chars += line.length + 1
        const isEnough = count === limit
        if (isEnough || chars > mostChars)
          return {
            lines,
            notes: [`there is more; ${isEnough ? 'raise head_limit' : 'narrow the pattern, path or glob'}`],
          }
        lines.push(line)
        if (line !== gap) count += 1
      }
    }
  } catch (error) {
    if (!isTooLate(error)) throw error
    return { lines, notes: ['the search took too long and was stopped; narrow the path or glob'] }
  }
  return { lines, notes: [] }
}

/** Between lines that do not follow each other. */
const gap = '--'

function* linesOf(
  { file, lines, count }: Found,
  { mode, hasNumbers }: Options,
  hasBefore: boolean,
): Generator<string> {
  if (mode === 'files_with_matches') return yield file
  if (mode === 'count') return yield `${file}:${count}`
  const hasContext = lines.some((line) => !line.isMatch)
  let last = hasBefore ? -1 : undefined
  for (const { number, text, isMatch } of lines) {
    if (hasContext && last !== undefined && number !== last + 1) yield gap
    last = number
    const sign = isMatch ? ':' : '-'
    const shown = text.length > mostLineChars ? `${cutText(text, mostLineChars)}… [cut]` : text
    yield `${file}${sign}${hasNumbers ? `${number}${sign}` : ''}${shown}`
  }
}
