/** A stretch of a word: bare, in quotes, or one character after a backslash. An open one lacks its end. */
export type ShellPiece = {
  readonly kind: 'bare' | 'single' | 'double' | 'escaped'
  /** Where it begins in the line, and all of it, quotes and backslash included. */
  readonly at: number
  readonly source: string
  readonly isOpen: boolean
}

/**
 * A part of a command line. `end` divides commands (&& || | |& ; and a newline), `background` is a single &,
 * and a redirection is only the sign, with the number before it.
 */
export type ShellToken =
  | { readonly kind: 'word'; readonly at: number; readonly pieces: readonly ShellPiece[] }
  | {
      readonly kind: 'blank' | 'comment' | 'end' | 'background' | 'redirection' | 'group'
      readonly at: number
      readonly source: string
    }

const signs = [
  ['blank', /(?:[ \t]|\\\n)+/y],
  ['comment', /#[^\n]*/y],
  ['redirection', /\d*(?:>>|>\||>&|<>|<<<|<<|[<>])|&>>?/y],
  ['end', /&&|\|\||\|&|[|;\n]/y],
  ['background', /&/y],
  ['group', /[()]/y],
] as const

/** Cuts a command line the way bash does. It decides nothing: what a part means, and what is not allowed, is for its readers. */
export function* shellTokens(line: string): Iterable<ShellToken> {
  let at = 0
  while (at < line.length) {
    const token = signAt(line, at) ?? { kind: 'word', at, pieces: shellPieces(line, at, endsWord) }
    yield token
    at += token.kind === 'word' ? shellLength(token.pieces) : token.source.length
  }
}

function signAt(line: string, at: number): ShellToken | undefined {
  for (const [kind, pattern] of signs) {
    pattern.lastIndex = at
    const [source] = pattern.exec(line) ?? []
    if (source !== undefined) return { kind, at, source }
  }
  return undefined
}

const endsWord = /[ \t\n;|&<>()]/

/** The pieces of the word that begins at a place, up to a bare character that ends it. */
export function shellPieces(line: string, begin: number, ends: RegExp): readonly ShellPiece[] {
  const pieces: ShellPiece[] = []
  let at = begin
  while (at < line.length && !ends.test(line.charAt(at))) {
    const piece = pieceAt(line, at, ends)
    pieces.push(piece)
    at += piece.source.length
  }
  return pieces
}

const quotes = { "'": /'[^']*('?)/y, '"': /"(?:[^"\\]|\\[^])*("?)/y } as const

function pieceAt(line: string, at: number, ends: RegExp): ShellPiece {
  const first = line.charAt(at)
  if (first === '\\') {
    const source = line.slice(at, at + 2)
    return { kind: 'escaped', at, source, isOpen: source.length < 2 }
  }
  if (first === "'" || first === '"') {
    const kind = first === "'" ? 'single' : 'double'
    const pattern = quotes[first]
    pattern.lastIndex = at
    const [source = first, closing = ''] = pattern.exec(line) ?? []
    const isOpen = closing === ''
    return { kind, at, source: isOpen ? line.slice(at) : source, isOpen }
  }
  let end = at + 1
  while (end < line.length && !/['"\\]/.test(line.charAt(end)) && !ends.test(line.charAt(end))) end += 1
  return { kind: 'bare', at, source: line.slice(at, end), isOpen: false }
}

/** How much of a line pieces take. */
export const shellLength = (pieces: readonly ShellPiece[]): number =>
  pieces.reduce((sum, { source }) => sum + source.length, 0)

/** What pieces stand for, quotes taken away and nothing expanded. */
export const shellText = (pieces: readonly ShellPiece[]): string => pieces.map(textOf).join('')

function textOf({ kind, source }: ShellPiece): string {
  switch (kind) {
    case 'bare':
      return source
    case 'single':
      return source.slice(1, -1)
    case 'double':
      // Between double quotes a backslash means itself, but before these.
      return source.slice(1, -1).replaceAll(/\\(?:([$`"\\])|\n)/g, '$1')
    case 'escaped':
      // A backslash at the end of a line joins it with the next one.
      return source === '\\\n' ? '' : source.slice(source.length - 1)
  }
}
