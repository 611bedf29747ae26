import { createContext, Script } from 'node:vm'
import { AppError } from '../../contract/errors.ts'
import { findCatastrophe } from '../../contract/pattern-safety.ts'
import type { Query } from './search.ts'

/** Which of some lines match, by their place. */
export type LinePattern = (lines: readonly string[]) => readonly number[]

const longestMs = 500

/** A pattern that can hold up nothing: what looks dangerous is refused, and the rest has its time taken. */
export function linePattern({ pattern, isCaseless, isMultiline }: Query): LinePattern {
  const danger = findCatastrophe(pattern)
  if (danger !== undefined)
    throw new AppError('invalid', `The pattern could take for ever: ${danger}; write it without that`)
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
