import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AppError } from '../../contract/errors.ts'
import { jsonSyntaxError } from '../../contract/json-syntax.ts'
import { parseJsonText } from './parse-json-text.ts'

function faultOf(text: string): unknown {
  try {
    parseJsonText(text)
    return undefined
  } catch (error) {
    expect(error).toBeInstanceOf(AppError)
    const { line, column } = (error as AppError).details as { line: number; column: number }
    return [line, column]
  }
}

test('[LOG-128] the first fault is named by line and column', () => {
  for (const [text, place] of [
    ['', [1, 1]],
    ['{', [1, 2]],
    ['{"a":1,}', [1, 8]],
    ['{"a" 1}', [1, 6]],
    ["{'a':1}", [1, 2]],
    ['[1,2', [1, 5]],
    ['[1,,2]', [1, 4]],
    ['[01]', [1, 3]],
    ['nul', [1, 1]],
    ['{} x', [1, 4]],
    ['"a\nb"', [1, 3]],
    ['"\\x"', [1, 2]],
    ['{\n  "a": "say "hi""\n}', [2, 14]],
    ['[\r\n1,\r\n}', [3, 1]],
    ['[1.e5]', [1, 3]],
    ['[-]', [1, 2]],
    ['"open', [1, 6]],
  ] as const)
    expect([text, faultOf(text)]).toEqual([text, place])
})

test('[LOG-128] a text with a byte order mark is read, and faults are counted after it', () => {
  expect(parseJsonText('\ufeff{"a":1}')).toEqual({ a: 1 })
  expect(faultOf('\ufeff{"a"}')).toEqual([1, 5])
})

test('[LOG-128] cutting or spoiling valid JSON anywhere is either still JSON or a fault inside the text', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), fc.constantFrom('', '"', '}', ',', '\\', '\u0001'), (json, n, put) => {
      const at = n % (json.length + 1)
      const text = `${json.slice(0, at)}${put}`
      let isJson = true
      try {
        JSON.parse(text)
      } catch {
        isJson = false
      }
      if (isJson) expect(parseJsonText(text)).toEqual(JSON.parse(text))
      else {
        const { offset } = jsonSyntaxError(text)
        expect(offset).toBeLessThanOrEqual(text.length)
        // What stands before the fault is no fault: some text can follow it.
        expect(offset).toBeGreaterThanOrEqual(Math.min(at, text.length) - 12)
      }
    }),
  )
})

test('[LOG-128] a text nested a million deep is answered, not overflowed', () => {
  expect(faultOf('['.repeat(1_000_000))).toEqual([1, 1_000_001])
})
