/** Where a text stops being JSON, and what was expected there. */
export type SyntaxFault = { readonly offset: number; readonly message: string }

const literals = ['true', 'false', 'null'] as const
const space = /[ \t\n\r]*/y
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/**
 * Where a text stops being JSON. Engines word their own errors differently and do not always say where,
 * so the text is scanned.
 */
export function jsonSyntaxError(text: string): SyntaxFault {
  const end = jsonValueEnd(text, 0)
  if (typeof end !== 'number') return end
  return fault(end, text, end < text.length ? 'the end of the text' : 'a fault')
}

/**
 * Where the value that begins at a place of a text ends, with the space behind it, or where it stops being one.
 * The nesting is kept on a list because a hostile text may be nested a million deep.
 */
export function jsonValueEnd(text: string, from: number): number | SyntaxFault {
  const open: ('[' | '{')[] = []
  let at = skip(space, text, from)
  let expects: 'value' | 'value or ]' | 'key' | 'key or }' | 'after' = 'value'
  for (;;) {
    const char = text[at]
    if (expects === 'after') {
      const inside = open.at(-1)
      if (inside === undefined) return at
      if (char === ',') expects = inside === '[' ? 'value' : 'key'
      else if (char === (inside === '[' ? ']' : '}')) open.pop()
      else return fault(at, text, inside === '[' ? '"," or "]"' : '"," or "}"')
      at = skip(space, text, at + 1)
      continue
    }
    if ((char === ']' && expects === 'value or ]') || (char === '}' && expects === 'key or }')) {
      open.pop()
      expects = 'after'
      at = skip(space, text, at + 1)
      continue
    }
    if (expects === 'key' || expects === 'key or }') {
      if (char !== '"') return fault(at, text, 'a field name in double quotes')
      const end = stringEnd(text, at)
      if (typeof end !== 'number') return end
      at = skip(space, text, end)
      if (text[at] !== ':') return fault(at, text, '":"')
      at = skip(space, text, at + 1)
      expects = 'value'
      continue
    }
    if (char === '[' || char === '{') {
      open.push(char)
      expects = char === '[' ? 'value or ]' : 'key or }'
      at = skip(space, text, at + 1)
      continue
    }
    const end = scalarEnd(text, at)
    if (typeof end !== 'number') return end
    at = skip(space, text, end)
    expects = 'after'
  }
}

function scalarEnd(text: string, at: number): number | SyntaxFault {
  if (text[at] === '"') return stringEnd(text, at)
  const literal = literals.find((word) => text.startsWith(word, at))
  if (literal) return at + literal.length
  const end = skip(number, text, at)
  return end > at ? end : fault(at, text, 'a value')
}

function stringEnd(text: string, at: number): number | SyntaxFault {
  let next = plainEnd(text, at + 1)
  while (text[next] !== '"') {
    const end = text[next] === '\\' ? skip(escape, text, next) : next
    if (end === next)
      return fault(next, text, next < text.length ? 'no such character in a text' : 'a closing "')
    next = plainEnd(text, end)
  }
  return next + 1
}

// A control character, a quote and a backslash end a plain stretch of a text.
function plainEnd(text: string, at: number): number {
  let next = at
  for (; next < text.length; next++) {
    const code = text.charCodeAt(next)
    if (code === 0x22 || code === 0x5c || code < 0x20) return next
  }
  return next
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

function fault(offset: number, text: string, expected: string): SyntaxFault {
  const found = offset < text.length ? JSON.stringify(text.slice(offset, offset + 12)) : 'the end of the text'
  return { offset, message: `expected ${expected}, found ${found}` }
}
