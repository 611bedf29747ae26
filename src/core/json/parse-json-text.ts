import { AppError } from '../../contract/errors.ts'
import { jsonSyntaxError } from '../../contract/json-syntax.ts'
import { positionAt } from '../../contract/yaml-position.ts'

/** The value of a JSON text; a text that is none is refused with the line and column of the first fault. */
export function parseJsonText(text: string): unknown {
  const json = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  try {
    return JSON.parse(json)
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    const fault = jsonSyntaxError(json)
    const { line, column } = positionAt(json, fault.offset)
    throw new AppError(
      'invalid',
      `not valid JSON at line ${line}, column ${column}: ${fault.message}; fix the text there and try again`,
      { cause, details: { line, column, offset: fault.offset + (text.length - json.length) } },
    )
  }
}
