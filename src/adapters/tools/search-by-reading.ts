import { join } from 'node:path'
import type { Place } from '../system/place.ts'
import { type LinePattern, linePattern } from './line-pattern.ts'
import { type OpenFile, openFile } from './open-file.ts'
import { type Line, readLines } from './read-lines.ts'
import { type Found, type FoundLine, type Query, type Search } from './search.ts'

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
