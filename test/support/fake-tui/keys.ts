/** What came from the keyboard. */
export type Input =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'paste'; readonly text: string }
  | { readonly kind: 'enter' | 'escape' | 'clear' | 'backspace' | 'quit' }

const begin = '\u001b[200~'
const end = '\u001b[201~'
/** A lone escape is a key when nothing follows it at once. */
const escapeMs = 40

/** Takes the bytes of a terminal apart, whatever pieces they come in. */
export function inputReader(take: (input: Input) => void): (text: string) => void {
  let rest = ''
  let timer: NodeJS.Timeout | undefined
  const read = (isLast: boolean): void => {
    while (rest !== '') {
      const found = next(rest, isLast)
      if (found === undefined) return
      rest = rest.slice(found.length)
      if (found.input) take(found.input)
    }
  }
  return (text) => {
    clearTimeout(timer)
    rest += text
    read(false)
    if (rest !== '' && !rest.startsWith(begin)) timer = setTimeout(() => read(true), escapeMs)
  }
}

type Found = { readonly length: number; readonly input?: Input }

const single: Readonly<Record<string, Input>> = {
  '\r': { kind: 'enter' },
  '\u0003': { kind: 'clear' },
  '\u0015': { kind: 'clear' },
  '\u0004': { kind: 'quit' },
  '\u007f': { kind: 'backspace' },
}

/** The first thing in the text; undefined when it is not there to its end. */
function next(text: string, isLast: boolean): Found | undefined {
  if (text.startsWith(begin)) {
    const at = text.indexOf(end)
    if (at < 0) return undefined
    return { length: at + end.length, input: { kind: 'paste', text: text.slice(begin.length, at) } }
  }
  const key = single[text[0] ?? '']
  if (key) return { length: 1, input: key }
  if (text.startsWith('\u001b')) {
    const sequence = /^(?:\[[\d;]*[ -/]*[@-~]|O.)/.exec(text.slice(1))?.[0]
    if (sequence !== undefined) return { length: 1 + sequence.length }
    if (!isLast && begin.startsWith(text)) return undefined
    return { length: 1, input: { kind: 'escape' } }
  }
  let plain = ''
  for (const char of text) {
    if (char in single || char === '\u001b') break
    plain += char
  }
  return { length: plain.length, input: { kind: 'text', text: plain } }
}
