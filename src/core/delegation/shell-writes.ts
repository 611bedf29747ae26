import { type ShellPiece, shellText, shellTokens } from '../../contract/shell-lexer.ts'

type Word = { readonly text: string; readonly isFixed: boolean }
type Token = Word | { readonly operator: string }

/**
 * Files that a command line plainly names as what it writes: the aims of redirections, and arguments of a few programs
 * that are there to write. It is for a refusal in time, with a reason; what it does not see is found when the work is
 * collected. What cannot be read with certainty is therefore left out, never guessed.
 */
export function shellWrites(line: string): readonly string[] {
  const found: string[] = []
  let folder = ''
  for (const { words, aims } of commandsOf(tokensOf(line.slice(0, longest)))) {
    const [program, ...args] = words.slice(words.findIndex(({ text }) => !/^\w+=/.test(text)))
    const named = [...aims, ...(program ? written(program.text, args) : [])]
    for (const { text, isFixed } of named)
      if (isFixed && text !== '' && !isTemporary(text)) found.push(within(folder, text))
    if (program?.text !== 'cd') continue
    const [to] = args
    // Where it is from here on is not known.
    if (args.length !== 1 || !to?.isFixed || to.text === '-') return found
    folder = within(folder, to.text)
  }
  return found
}

const longest = 10_000
const isTemporary = (path: string): boolean => /^\/(?:dev|tmp|proc)\//.test(path)
const within = (folder: string, path: string): string =>
  folder === '' || path.startsWith('/') ? path : `${folder}/${path}`

function written(program: string, args: readonly Word[]): readonly Word[] {
  const options = args.filter(({ text }) => text.startsWith('-')).map(({ text }) => text)
  const names = args.filter(({ text }) => !text.startsWith('-'))
  const has = (flag: RegExp) => options.some((option) => flag.test(option))
  switch (program) {
    case 'tee':
      return names
    case 'touch':
      return options.length === 0 ? names : []
    case 'rm':
      // A folder is named by no glob of what is in it.
      return has(/^-\w*[rR]|^--recursive/) ? names.filter(leaves) : names
    case 'sed':
      return has(/^-\w*i|^--in-place/) && !has(/^-\w*[ef]|^--(expression|file)/) ? names.slice(1) : []
    case 'cp':
    case 'mv':
    case 'ln':
      // The last one may be a folder; that it lies outside is certain all the same.
      return has(/^-\w*t|^--target/) ? [] : names.slice(-1).filter(leaves)
    default:
      return []
  }
}

const leaves = ({ text }: Word): boolean => text.startsWith('/') || text.split('/').includes('..')

type Command = { readonly words: readonly Word[]; readonly aims: readonly Word[] }

function* commandsOf(tokens: Iterable<Token>): Iterable<Command> {
  let words: Word[] = []
  let aims: Word[] = []
  let isAim: boolean | undefined
  for (const token of tokens) {
    if (!('operator' in token)) {
      if (isAim === undefined) words.push(token)
      else if (isAim) aims.push(token)
      isAim = undefined
    } else if (/[<>]/.test(token.operator)) isAim = token.operator.includes('>')
    else {
      yield { words, aims }
      ;[words, aims, isAim] = [[], [], undefined]
    }
  }
  yield { words, aims }
}

/** Words and operators, up to what is not read here: groups, and the lines that a here-document gives. */
function* tokensOf(line: string): Iterable<Token> {
  let joinsStreams = false
  for (const token of shellTokens(line)) {
    if (token.kind === 'blank' || token.kind === 'comment') {
      joinsStreams = false
      continue
    }
    if (token.kind === 'group' || (token.kind === 'redirection' && token.source.endsWith('<<'))) return
    if (token.kind !== 'word') {
      yield { operator: token.source }
      joinsStreams = token.source.endsWith('>&')
      continue
    }
    const end = token.pieces.findIndex(isUnread)
    const pieces = end === -1 ? token.pieces : [...token.pieces.slice(0, end), ...begin(token.pieces[end])]
    const text = shellText(pieces)
    // Another stream, and no file.
    if (joinsStreams && /^[\d-]/.test(text)) yield { text: '', isFixed: true }
    else if (pieces.length > 0) yield { text, isFixed: pieces.every(isFixed) }
    if (end !== -1) return
    joinsStreams = false
  }
}

const isUnread = ({ kind, source, isOpen }: ShellPiece): boolean =>
  isOpen || (kind === 'bare' && /[{}\s]/.test(source))

/** What of a piece comes before the part that is not read here. */
function begin(piece: ShellPiece | undefined): readonly ShellPiece[] {
  const source = piece?.kind === 'bare' ? (/^[^{}\s]*/.exec(piece.source)?.[0] ?? '') : ''
  return piece && source !== '' ? [{ ...piece, source }] : []
}

const isFixed = ({ kind, source }: ShellPiece): boolean =>
  kind === 'single' || kind === 'escaped' || !/[$`*?[~{]/.test(source.replaceAll(/\\[^]/g, ''))
