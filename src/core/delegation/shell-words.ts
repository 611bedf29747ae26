/** A simple command: its words without quotes, and whether it writes its output to a file. */
export type SimpleCommand = { readonly words: readonly string[]; readonly writes: boolean }

// A longer line is a script; nobody needs it parsed to know that it acts.
const longestRead = 10_000

/**
 * The simple commands of a command line, or undefined when it holds anything whose effect cannot be seen from
 * its words: substitutions, functions, loops, here-documents, background jobs, open quotes.
 */
export function simpleCommands(line: string): SimpleCommand[] | undefined {
  if (line.length > longestRead) return undefined
  const commands: SimpleCommand[] = []
  let words: string[] = []
  let writes = false
  let rest = line
  const finish = () => {
    if (words.length > 0) commands.push({ words, writes })
    words = []
    writes = false
  }
  while (rest !== '') {
    const token = nextToken(rest)
    if (!token) return undefined
    rest = rest.slice(token.length)
    if (token.kind === 'word') words.push(token.text)
    else if (token.kind === 'write') writes = true
    else if (token.kind === 'end') finish()
  }
  finish()
  return commands
}

type Token = {
  readonly kind: 'word' | 'end' | 'write' | 'skip'
  readonly text: string
  readonly length: number
}

const patterns: readonly [Token['kind'], RegExp][] = [
  ['skip', /^(?:[ \t]+|\\\n|#[^\n]*)/],
  // Output that is thrown away or joined with another stream reaches no file.
  ['skip', /^(?:\d?>&\d|&>>?[ \t]*\/dev\/null|\d?>>?[ \t]*\/dev\/null|\d?<[ \t]*[\w./~-]+)/],
  ['write', /^(?:\d?>>?|&>>?)[ \t]*[^\s;&|<>()'"`$]+/],
  ['end', /^(?:\n|;|&&|\|\||\|&|\|)/],
]
const word =
  /^(?:[^\s;&|<>()'"`$\\#{}]|\\[^\n]|\$[A-Za-z_]\w*|\$\{[A-Za-z_]\w*\}|[{}]|'[^']*'|"(?:[^"\\`$]|\\[\s\S]|\$[A-Za-z_]\w*|\$\{[A-Za-z_]\w*\}|\$(?=[^A-Za-z_({]))*"|(?<=\S)#)+/

function nextToken(text: string): Token | undefined {
  for (const [kind, pattern] of patterns) {
    const found = pattern.exec(text)
    if (found) return { kind, text: found[0], length: found[0].length }
  }
  const found = word.exec(text)
  return found ? { kind: 'word', text: unquoted(found[0]), length: found[0].length } : undefined
}

const unquoted = (text: string): string =>
  text.replace(
    /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])/g,
    (...parts: string[]) => parts[1] ?? parts[2] ?? parts[3] ?? '',
  )
