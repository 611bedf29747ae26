import { AppError } from '../../contract/errors.ts'

type Asked = {
  readonly line?: number | undefined
  readonly character?: number | undefined
  readonly query?: string | undefined
}

/** Where something stands in a text, counted from 0 as language servers do. */
export function positionIn(text: string, { line, character, query }: Asked) {
  const lines = text.split(/\r?\n/)
  if (line !== undefined && line > lines.length)
    throw new AppError('invalid', `the file has ${lines.length} lines, and no line ${line}; Read it first`)
  if (line !== undefined && character !== undefined) return { line: line - 1, character: character - 1 }
  if (query === undefined)
    throw new AppError('invalid', 'say where: line and character, or query with the name that is there')
  const name = new RegExp(`(?<![\\w$])${query.replaceAll(/[^\w\s]/g, '\\$&')}(?![\\w$])`)
  const first = line === undefined ? 0 : line - 1
  const last = line === undefined ? lines.length : line
  for (let at = first; at < last; at += 1) {
    const found = name.exec(lines[at] ?? '')
    if (found) return { line: at, character: found.index }
  }
  throw new AppError(
    'not_found',
    `${query} is not ${line === undefined ? 'in the file' : `in line ${line}`}; Read it first`,
  )
}
