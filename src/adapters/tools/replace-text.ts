import { AppError } from '../../contract/errors.ts'
import { nearestLine } from './nearest-line.ts'

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
export function replaceText(content: Buffer, { old, replacement, isAll }: Replacement): Replaced {
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
