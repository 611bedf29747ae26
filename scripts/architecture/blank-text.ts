/**
 * Blanks comments and the insides of strings, keeping every position, so that patterns meet only code.
 * Template literals keep the code of their `${…}`.
 */
export function blankText(source: string): string {
  const out = source.split('')
  const blank = (from: number, to: number) => {
    for (let i = from; i < to; i++) if (out[i] !== '\n') out[i] = ' '
  }
  // One entry per open template: how many braces are open inside its `${`.
  const templates: number[] = []
  let i = 0
  const skipTemplate = () => {
    const start = i
    while (i < source.length && source[i] !== '`') {
      if (source[i] === '\\') i++
      else if (source.startsWith('${', i)) {
        blank(start, i)
        templates.push(0)
        i += 2
        return
      }
      i++
    }
    blank(start, i)
    i++
  }
  while (i < source.length) {
    const character = source[i] ?? ''
    if (source.startsWith('//', i) || source.startsWith('/*', i)) {
      const end = source[i + 1] === '/' ? source.indexOf('\n', i) : source.indexOf('*/', i) + 2
      const stop = end < i + 2 ? source.length : end
      blank(i, stop)
      i = stop
    } else if (character === "'" || character === '"') {
      const end = endOfLiteral(source, i, character)
      blank(i + 1, end)
      i = end + 1
    } else if (character === '`') {
      i++
      skipTemplate()
    } else if (character === '/' && startsPattern(out, i)) {
      const end = endOfLiteral(source, i, '/')
      blank(i + 1, end)
      i = end + 1
    } else if (templates.length > 0 && character === '{') {
      templates.push((templates.pop() ?? 0) + 1)
      i++
    } else if (templates.length > 0 && character === '}') {
      const open = templates.pop() ?? 0
      i++
      if (open > 0) templates.push(open - 1)
      else skipTemplate()
    } else i++
  }
  return out.join('')
}

// Text between JSX tags may hold a lone quote; a literal that ends with its line bounds the harm to that line.
function endOfLiteral(source: string, start: number, quote: string): number {
  let isClass = false
  for (let i = start + 1; i < source.length; i++) {
    const character = source[i]
    if (character === '\n') return i
    if (character === '\\') i++
    else if (quote === '/' && character === '[') isClass = true
    else if (quote === '/' && character === ']') isClass = false
    else if (character === quote && !isClass) return i
  }
  return source.length
}

// After a value a slash divides; after anything else it begins a pattern.
function startsPattern(out: readonly string[], at: number): boolean {
  let end = at
  while (end > 0 && /\s/.test(out[end - 1] ?? '')) end--
  const before = out.slice(Math.max(0, end - 12), end).join('')
  return /(^|[^\w$)\]}'"`])$/.test(before) || /\b(return|typeof|case|in|of|void|await|yield)$/.test(before)
}
