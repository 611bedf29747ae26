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

const operators = /^(?:\d*(?:>>|>\||>&|<>|>)|&>>?|\d*<|&&|\|\||[;|&\n])/

/** Words and operators, up to what is not read here: groups, and the lines that a here-document gives. */
function* tokensOf(line: string): Iterable<Token> {
  let at = 0
  while (at < line.length) {
    const rest = line.slice(at)
    const [blank] = /^(?:[ \t]|\\\n)+|^#[^\n]*/.exec(rest) ?? []
    if (blank !== undefined) {
      at += blank.length
      continue
    }
    if (/^[(){}]/.test(rest) || /^\d*<<(?!<)/.test(rest)) return
    const [operator] = operators.exec(rest) ?? []
    if (operator !== undefined) {
      yield { operator }
      at += operator.length
      // Another stream, and no file.
      const [stream] = operator.endsWith('>&') ? (/^[\d-]+/.exec(line.slice(at)) ?? []) : []
      if (stream !== undefined) yield { text: '', isFixed: true }
      at += stream?.length ?? 0
      continue
    }
    const [text] = word.exec(rest) ?? []
    if (text === undefined) return
    yield { text: plain(text), isFixed: !/[$`*?[~{]/.test(text.replaceAll(/'[^']*'|\\[\s\S]/g, '')) }
    at += text.length
  }
}

const word = /^(?:'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|[^\s'"\\;|&<>(){}])+/

const plain = (text: string): string =>
  (text.match(/'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|[^'"\\]+/g) ?? []).map(unquoted).join('')

function unquoted(part: string): string {
  if (part.startsWith("'")) return part.slice(1, -1)
  if (part.startsWith('"')) return part.slice(1, -1).replaceAll(/\\(["\\$`])/g, '$1')
  return part.startsWith('\\') ? part.slice(1) : part
}
