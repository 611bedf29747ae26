/** A JSON array that begins at a place in a text, and the place after it; undefined when there is none. */
export function jsonArrayAt(text: string, start: number): { value: unknown; end: number } | undefined {
  const end = endOfArray(text, start)
  if (end === undefined) return undefined
  try {
    return { value: JSON.parse(text.slice(start, end)) as unknown, end }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function endOfArray(text: string, start: number): number | undefined {
  if (text[start] !== '[') return undefined
  let depth = 0
  let isInString = false
  for (let at = start; at < text.length; at++) {
    const char = text[at]
    if (isInString) {
      if (char === '\\') at++
      else if (char === '"') isInString = false
    } else if (char === '"') isInString = true
    else if (char === '[' || char === '{') depth++
    else if (char === ']' || char === '}') {
      depth--
      if (depth === 0) return at + 1
    }
  }
  return undefined
}
