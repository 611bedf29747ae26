type Want = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | ', or end' | 'nothing'

/** Where a text stops being JSON. The parser's own message does not always say, and quotes the body. */
export function jsonErrorAt(text: string): number {
  const open: ('{' | '[')[] = []
  let want: Want = 'value'
  let at = 0
  for (;;) {
    while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at++
    if (at >= text.length) return text.length
    const c = text.charAt(at)
    const inside = open.at(-1)
    const isEmptyEnd = (want === 'key or }' && c === '}') || (want === 'value or ]' && c === ']')
    const isEnd = want === ', or end' && c === (inside === '{' ? '}' : ']')
    if (isEmptyEnd || isEnd) {
      open.pop()
      at++
    } else if (want === ', or end' || want === ':') {
      if (c !== (want === ':' ? ':' : ',')) return at
      at++
      want = want === ', or end' && inside === '{' ? 'key' : 'value'
      continue
    } else if (want === 'nothing') return at
    else if (want === 'key' || want === 'key or }') {
      const end = c === '"' ? stringEnd(text, at) : { bad: at }
      if (end.bad !== undefined) return end.bad
      at = end.good
      want = ':'
      continue
    } else if (c === '{' || c === '[') {
      open.push(c)
      at++
      want = c === '{' ? 'key or }' : 'value or ]'
      continue
    } else {
      const end = c === '"' ? stringEnd(text, at) : wordEnd(text, at)
      if (end.bad !== undefined) return end.bad
      at = end.good
    }
    want = open.length > 0 ? ', or end' : 'nothing'
  }
}

type End = { readonly good: number; readonly bad?: undefined } | { readonly bad: number }

function stringEnd(text: string, start: number): End {
  const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
  for (let at = start + 1; at < text.length; at++) {
    const c = text.charAt(at)
    if (c === '"') return { good: at + 1 }
    if (c < ' ') return { bad: at }
    if (c === '\\') {
      escape.lastIndex = at
      if (!escape.test(text)) return { bad: at }
      at = escape.lastIndex - 1
    }
  }
  return { bad: text.length }
}

function wordEnd(text: string, start: number): End {
  const word = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
  word.lastIndex = start
  return word.test(text) ? { good: word.lastIndex } : { bad: start }
}
