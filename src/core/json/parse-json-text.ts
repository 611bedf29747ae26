import { AppError } from '../../contract/errors.ts'
import { jsonSyntaxError } from './json-syntax.ts'

/** The value of a JSON text; a text that is none is refused with the line and column of the first fault. */
export function parseJsonText(text: string): unknown {
  const json = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  try {
    return JSON.parse(json)
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    const fault = jsonSyntaxError(json)
    const { line, column } = lineAndColumn(json, fault.offset)
    throw new AppError(
      'invalid',
      `not valid JSON at line ${line}, column ${column}: ${fault.message}; mend the text there and try again`,
      { cause, details: { line, column, offset: fault.offset + (text.length - json.length) } },
    )
  }
}

function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  let line = 1
  let start = 0
  for (let next = text.indexOf('\n'); next !== -1 && next < offset; next = text.indexOf('\n', start)) {
    line += 1
    start = next + 1
  }
  return { line, column: offset - start + 1 }
}
