import * as z from 'zod'
import { AppError } from '../../contract/errors.ts'
import type { Tool } from '../../ports/tools.ts'
import { cutText, defineTool } from '../system/define-tool.ts'
import { placeInside } from '../system/place.ts'
import { removeDrafts } from './held-folder.ts'
import { FilePath, type MatchesGlob, mustBeChangeable, type WorkspaceTurns } from './workspace-access.ts'
import { changeFile } from './write-tool.ts'

const mostChars = 1 << 20

const Input = z.strictObject({
  file_path: FilePath.describe('The file, absolute or relative to the project'),
  old_string: z.string().min(1).max(mostChars).describe('The text to replace, exactly as it is in the file'),
  new_string: z.string().max(mostChars).describe('The text to put in its place'),
  replace_all: z.boolean().optional().describe('Replace every occurrence; false when left out'),
})

type Parts = { readonly matchesGlob: MatchesGlob; readonly turns: WorkspaceTurns }

export const editTool = ({ matchesGlob, turns }: Parts): Tool =>
  defineTool({
    name: 'Edit',
    description: [
      'Replaces a text in a file that was Read in this run.',
      'old_string must be exactly what is in the file, without the line numbers of Read, and occur once;',
      'take more of the lines around it when it occurs more often, or set replace_all.',
    ].join(' '),
    category: 'action',
    input: Input,
    target: ({ file_path }) => file_path,
    tidy: (path, workspace) => removeDrafts(workspace, path),
    async run({ file_path, replace_all = false, ...strings }, context) {
      const place = await placeInside(context.workspace, file_path)
      mustBeChangeable(place, context, matchesGlob)
      let done = { count: 0, line: 0 }
      const change = await turns.shared(place.workspace, context.signal, () =>
        changeFile(place, context, (before) => {
          if (!before) throw new AppError('not_found', `${place.relative} does not exist; make it with Write`)
          const { content, ...rest } = replaceText(before, {
            old: strings.old_string,
            replacement: strings.new_string,
            isAll: replace_all,
          })
          done = rest
          return content
        }),
      )
      const where =
        done.count === 1 ? `at line ${done.line}` : `in ${done.count} places, the first at line ${done.line}`
      const text = `${change.path} was changed ${where}: ${change.linesAdded} lines added, ${change.linesRemoved} removed.`
      return { text, isError: false, changes: [change] }
    },
  })

type Replacement = { readonly old: string; readonly replacement: string; readonly isAll: boolean }

type Replaced = {
  readonly content: Buffer
  readonly count: number
  /** Of the first one. */
  readonly line: number
}

/**
 * Replaces a text in the bytes of a file; every other byte stays, whatever its encoding. Lines that end in CRLF are
 * found by a text whose lines do not, and the new ones end alike.
 */
function replaceText(content: Buffer, { old, replacement, isAll }: Replacement): Replaced {
  if (old === replacement)
    throw new AppError('invalid', 'old_string and new_string are the same; nothing would change')
  const ways = isMostlyCrlf(content) ? [withCrlf, asItIs] : [asItIs, withCrlf]
  for (const way of ways) {
    const wanted = Buffer.from(way(old))
    const found = placesOf(content, wanted)
    const [first] = found
    if (first === undefined) continue
    if (found.length > 1 && !isAll)
      throw new AppError(
        'conflict',
        `old_string occurs ${found.length} times (lines ${linesOf(content, found).join(', ')}); take more of the lines around it, or set replace_all`,
      )
    return {
      content: spliced(content, { found, length: wanted.length, by: Buffer.from(way(replacement)) }),
      count: found.length,
      line: lineAt(content, first),
    }
  }
  throw new AppError('not_found', notFound(content.toString('utf8'), old))
}

const asItIs = (text: string): string => text
const withCrlf = (text: string): string => text.replaceAll(/\r?\n/g, '\r\n')

function isMostlyCrlf(content: Buffer): boolean {
  const all = placesOf(content, Buffer.from('\n')).length
  return 2 * placesOf(content, Buffer.from('\r\n')).length > all
}

function placesOf(content: Buffer, wanted: Buffer): readonly number[] {
  const found: number[] = []
  for (let at = content.indexOf(wanted); at !== -1; at = content.indexOf(wanted, at + wanted.length))
    found.push(at)
  return found
}

function spliced(
  content: Buffer,
  { found, length, by }: { readonly found: readonly number[]; readonly length: number; readonly by: Buffer },
): Buffer {
  const parts: Buffer[] = []
  let from = 0
  for (const at of found) {
    parts.push(content.subarray(from, at), by)
    from = at + length
  }
  return Buffer.concat([...parts, content.subarray(from)])
}

const mostNamed = 10

const linesOf = (content: Buffer, found: readonly number[]): readonly (number | string)[] => [
  ...found.slice(0, mostNamed).map((at) => lineAt(content, at)),
  ...(found.length > mostNamed ? ['…'] : []),
]

const lineAt = (content: Buffer, at: number): number =>
  placesOf(content.subarray(0, at), Buffer.from('\n')).length + 1

function notFound(content: string, old: string): string {
  const said = 'old_string is not in the file'
  if (/^ *\d+\t/.test(old)) return `${said}; leave out the line numbers that Read puts before each line`
  const near = nearestLine(content, old)
  if (!near) return `${said}; Read it again and take the text exactly as it is there`
  return `${said}; the nearest is line ${near.number}: ${JSON.stringify(near.text)}. Take the text exactly as it is there`
}

const mostLines = 20_000
const shownChars = 300
/** Below it two lines have little in common. */
const leastLikeness = 0.4

/** The line of a file that is most like the first line of a text, when one is like it at all. */
function nearestLine(
  content: string,
  text: string,
): { readonly number: number; readonly text: string } | undefined {
  const wanted = text.split('\n').find((line) => line.trim() !== '')
  if (wanted === undefined) return undefined
  const pairs = pairsOf(wanted)
  let best: { readonly number: number; readonly text: string } | undefined
  let bestLikeness = leastLikeness
  for (const [i, line] of content.split('\n', mostLines).entries()) {
    const likeness = likenessOf(pairs, pairsOf(line))
    if (likeness <= bestLikeness) continue
    bestLikeness = likeness
    best = { number: i + 1, text: cutText(line.replace(/\r$/, ''), shownChars) }
  }
  return best
}

/** Which two characters follow each other, however the line is indented. */
function pairsOf(line: string): ReadonlySet<string> {
  const text = cutText(line.trim().replaceAll(/\s+/g, ' '), shownChars)
  const pairs = new Set<string>()
  for (let i = 0; i < Math.max(1, text.length - 1); i++) pairs.add(text.slice(i, i + 2))
  return pairs
}

function likenessOf(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let shared = 0
  for (const pair of one) if (other.has(pair)) shared += 1
  return (2 * shared) / (one.size + other.size)
}
