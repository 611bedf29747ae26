/** A word as a shell reads it: quotes taken away. */
export type ShellWord = {
  readonly text: string
  /** What stands outside of quotes may still become something else: a variable, or names of files. */
  readonly isFixed: boolean
}

/** The commands of a line, or why it cannot be told what they are. */
export type ShellParts =
  | { readonly ok: true; readonly parts: readonly (readonly ShellWord[])[] }
  | { readonly ok: false; readonly reason: string }

const longest = 10_000

/**
 * Splits a line at && || | ; and newlines. Whatever a shell would run or expand into further words in a way that is not
 * read here is refused, so that no word is ever taken for something else than bash takes it for.
 */
export function shellParts(line: string): ShellParts {
  if (line.length > longest) return refused('it is too long; run a shorter command')
  const parts: ShellWord[][] = [[]]
  let at = 0
  while (at < line.length) {
    const rest = line.slice(at, at + 3)
    if (/^[ \t]/.test(rest)) at += 1
    else if (rest.startsWith('\\\n')) at += 2
    else if (rest.startsWith('#')) at = endOfLine(line, at)
    else if (/^(&&|\|\||\||;|\n)/.test(rest)) {
      if (rest.startsWith('|&')) return refused('|& is not allowed; write 2>&1 |')
      at += rest.startsWith('&&') || rest.startsWith('||') ? 2 : 1
      parts.push([])
    } else {
      const redirection = harmlessRedirection(line, at)
      if (redirection > 0) {
        at += redirection
        continue
      }
      const word = readWord(line, at)
      if (!word.ok) return word
      parts.at(-1)?.push({ text: word.text, isFixed: word.isFixed })
      at = word.end
    }
  }
  return { ok: true, parts: parts.filter((part) => part.length > 0) }
}

const refused = (reason: string) => ({ ok: false, reason }) as const

const endOfLine = (line: string, at: number): number => {
  const end = line.indexOf('\n', at)
  return end === -1 ? line.length : end
}

const redirections = /^(?:[012]?>&[12]|[012&]?>>?[ \t]*\/dev\/null)(?=[ \t\n;|]|&&|$)/

/** How long a redirection is that writes no file. */
const harmlessRedirection = (line: string, at: number): number =>
  redirections.exec(line.slice(at, at + 100))?.[0].length ?? 0

type Read =
  | { readonly ok: true; readonly text: string; readonly isFixed: boolean; readonly end: number }
  | { readonly ok: false; readonly reason: string }

function readWord(line: string, begin: number): Read {
  let text = ''
  let isFixed = true
  let at = begin
  while (at < line.length) {
    const char = line[at] as string
    if (/[ \t\n;|]/.test(char) || line.startsWith('&&', at)) break
    const reason = dangerAt(line, at)
    if (reason !== undefined) return refused(reason)
    if (char === "'") {
      const end = line.indexOf("'", at + 1)
      if (end === -1) return refused('a quote is left open; close it')
      text += line.slice(at + 1, end)
      at = end + 1
    } else if (char === '"') {
      const quoted = readQuoted(line, at + 1)
      if (!quoted.ok) return quoted
      text += quoted.text
      isFixed &&= quoted.isFixed
      at = quoted.end
    } else if (char === '\\') {
      if (line[at + 1] !== '\n') text += line[at + 1] ?? '\\'
      at += 2
    } else {
      isFixed &&= !/[$*?[~]/.test(char)
      text += char
      at += 1
    }
  }
  return { ok: true, text, isFixed, end: at }
}

/** What stands between double quotes, where variables and substitutions still work. */
function readQuoted(line: string, begin: number): Read {
  let text = ''
  let isFixed = true
  for (let at = begin; at < line.length; at += 1) {
    const char = line[at] as string
    if (char === '"') return { ok: true, text, isFixed, end: at + 1 }
    if (char === '`' || /^\$[({]/.test(line.slice(at, at + 2))) return refused(substitution)
    if (char === '$') isFixed = false
    if (char === '\\' && /["\\$`\n]/.test(line[at + 1] ?? '')) {
      at += 1
      if (line[at] !== '\n') text += line[at]
    } else text += char
  }
  return refused('a quote is left open; close it')
}

const substitution =
  'it has a substitution, $(…), ${…} or backticks; run the inner command in a call of its own'

function dangerAt(line: string, at: number): string | undefined {
  const char = line[at]
  if (char === '`') return substitution
  if (char === '$' && /[({'"]/.test(line[at + 1] ?? '')) return substitution
  if (char === '(' || char === ')')
    return 'it has parentheses; put them in quotes, or run the commands one by one'
  if (char === '{') return 'it has a brace; put the word in single quotes, or write out each word'
  if (char === '>' || char === '<')
    return 'it has a redirection, and only those to /dev/null and 2>&1 are allowed; let it print what you want to see'
  if (char === '&') return 'it runs something in the background; run one command after the other'
  return undefined
}
