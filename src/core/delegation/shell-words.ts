import { type ShellPiece, type ShellToken, shellText, shellTokens } from '../../contract/shell-lexer.ts'

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
  /** The sign of a redirection whose file is still to come. */
  let sign: string | undefined
  const finish = () => {
    if (words.length > 0) commands.push({ words, writes })
    words = []
    writes = false
  }
  for (const token of shellTokens(line)) {
    if (token.kind === 'blank') continue
    if (sign !== undefined) {
      const aim = aimOf(sign, token)
      if (aim === undefined) return undefined
      writes ||= aim === 'file'
      sign = undefined
    } else if (token.kind === 'word') {
      if (!token.pieces.every(isPlain)) return undefined
      words.push(shellText(token.pieces))
    } else if (token.kind === 'redirection') sign = token.source
    else if (token.kind === 'end') finish()
    else if (token.kind !== 'comment') return undefined
  }
  finish()
  return sign === undefined ? commands : undefined
}

/** Where a redirection leads: output that is thrown away or joined with another stream reaches no file. */
function aimOf(sign: string, token: ShellToken): 'file' | 'nowhere' | undefined {
  if (token.kind !== 'word' || token.pieces.some(({ kind }) => kind === 'single' || kind === 'double'))
    return undefined
  const text = token.pieces.map(({ source }) => source).join('')
  if (/^\d?<$/.test(sign)) return /^[\w./~-]+$/.test(text) ? 'nowhere' : undefined
  if (/^\d?>&$/.test(sign)) return /^\d$/.test(text) ? 'nowhere' : undefined
  if (!/^(?:\d?|&)>>?$/.test(sign) || /[`$\s]/.test(text)) return undefined
  return text === '/dev/null' ? 'nowhere' : 'file'
}

const variable = /\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\})/g

/** Whether a piece runs nothing, and expands nothing but variables by their names. */
function isPlain({ kind, source, isOpen }: ShellPiece): boolean {
  if (isOpen) return false
  if (kind === 'bare') return !/[`$\s]/.test(source.replaceAll(variable, ''))
  if (kind !== 'double') return true
  return !/`|\$[A-Za-z_({]/.test(source.replaceAll(/\\[^]/g, '').replaceAll(variable, ''))
}
