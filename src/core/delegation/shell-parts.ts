import { type ShellPiece, shellLength, shellText, shellTokens } from '../../contract/shell-lexer.ts'

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
  /** Up to here everything is read; a redirection that follows a word at once may be of another stream than it looks. */
  let doneTo = 0
  let wordEnd = -1
  for (const token of shellTokens(line)) {
    if (token.at < doneTo) continue
    switch (token.kind) {
      case 'blank':
      case 'comment':
        break
      case 'end':
        if (token.source === '|&') return refused('|& is not allowed; write 2>&1 |')
        parts.push([])
        break
      case 'redirection': {
        const length = token.at === wordEnd ? 0 : harmlessRedirection(line, token.at)
        if (length === 0) return refused(token.source.startsWith('&') ? background : redirection)
        doneTo = token.at + length
        break
      }
      case 'background':
        return refused(background)
      case 'group':
        return refused(parentheses)
      case 'word': {
        const reason = dangerIn(line, token.pieces)
        if (reason !== undefined) return refused(reason)
        parts.at(-1)?.push({ text: shellText(token.pieces), isFixed: token.pieces.every(isFixed) })
        wordEnd = token.at + shellLength(token.pieces)
      }
    }
  }
  return { ok: true, parts: parts.filter((part) => part.length > 0) }
}

const refused = (reason: string) => ({ ok: false, reason }) as const

const redirections = /^(?:[012]?>&[12]|[012&]?>>?[ \t]*\/dev\/null)(?=[ \t\n;|]|&&|$)/

/** How long a redirection is that writes no file. */
const harmlessRedirection = (line: string, at: number): number =>
  redirections.exec(line.slice(at, at + 100))?.[0].length ?? 0

function isFixed({ kind, source }: ShellPiece): boolean {
  if (kind === 'bare') return !/[$*?[~]/.test(source)
  return kind !== 'double' || !source.replaceAll(/\\[^]/g, '').includes('$')
}

/** The first thing in a word that a shell would run, expand into further words, or wait for the end of. */
function dangerIn(line: string, pieces: readonly ShellPiece[]): string | undefined {
  for (const { kind, at, source, isOpen } of pieces) {
    if (kind === 'bare')
      for (let i = 0; i < source.length; i += 1) {
        const reason = dangerAt(line, at + i)
        if (reason !== undefined) return reason
      }
    if (kind === 'double' && /`|\$[({]/.test(source.replaceAll(/\\["\\$`\n]/g, '..'))) return substitution
    if (isOpen && kind !== 'escaped') return 'a quote is left open; close it'
  }
  return undefined
}

function dangerAt(line: string, at: number): string | undefined {
  const char = line[at]
  if (char === '`') return substitution
  if (char === '$' && /[({'"]/.test(line[at + 1] ?? '')) return substitution
  if (char === '{') return 'it has a brace; put the word in single quotes, or write out each word'
  return undefined
}

const substitution =
  'it has a substitution, $(…), ${…} or backticks; run the inner command in a separate call'
const parentheses = 'it has parentheses; put them in quotes, or run the commands one by one'
const redirection =
  'it has a redirection, and only those to /dev/null and 2>&1 are allowed; let it print what you want to see'
const background = 'it runs something in the background; run one command after the other'
