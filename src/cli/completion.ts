import type { CommandDefinition, Option } from '../contract/cli/command.ts'
import { commandEntries, globalOptions } from '../contract/cli.ts'

/** Something that can be typed next, and what it means. */
type Word = { readonly word: string; readonly about: string }

/** One state of a command line: the words so far, and what may follow them. */
type Position = {
  /** The words without options: empty, a family, or a whole command. */
  readonly after: string
  readonly isCommand: boolean
  readonly words: readonly Word[]
  readonly options: readonly (readonly [string, Option])[]
  readonly takesFile: boolean
}

/** Every state that completion knows, from the table of commands. */
function positions(): Position[] {
  const families = [
    ...new Set(commandEntries.flatMap(([name]) => (name.includes(' ') ? [name.split(' ')[0] ?? ''] : []))),
  ]
  const single = commandEntries.filter(([name]) => !name.includes(' '))
  const names = new Set<string>(single.map(([name]) => name))
  const pure = families.filter((family) => !names.has(family))
  const start = [
    ...single.flatMap(([name, { summary, alias }]) =>
      [name, ...(alias === undefined ? [] : [alias])].map((word) => ({ word, about: summary })),
    ),
    ...pure.map((word) => ({
      word,
      about: `${secondWords(word)
        .map((next) => next.word)
        .join(', ')}`,
    })),
  ]
  // A shell takes the first that fits, so `checkpoint diff` stands before `checkpoint`.
  const longestFirst = commandEntries.toSorted(([a], [b]) => b.split(' ').length - a.split(' ').length)
  return [
    menu('', start),
    ...pure.map((family) => menu(family, secondWords(family))),
    ...longestFirst.flatMap(([name, definition]) =>
      [name, ...(definition.alias === undefined ? [] : [definition.alias])].map((after) =>
        leaf(after, definition),
      ),
    ),
  ]
}

function secondWords(family: string): Word[] {
  return commandEntries
    .filter(([name]) => name.startsWith(`${family} `))
    .map(([name, { summary }]) => ({ word: name.slice(family.length + 1), about: summary }))
}

function menu(after: string, words: readonly Word[]): Position {
  return { after, isCommand: false, words, options: Object.entries(globalOptions), takesFile: false }
}

function leaf(after: string, definition: CommandDefinition): Position {
  const taken = Object.values(definition.arguments)
  return {
    after,
    isCommand: true,
    words: [
      ...secondWords(after),
      ...taken.flatMap(({ choices = [], about }) => choices.map((word) => ({ word, about }))),
    ],
    options: [...Object.entries(definition.options), ...Object.entries(globalOptions)],
    takesFile: taken.some((argument) => argument.isFile),
  }
}

/** The completion script of bash. */
export function bashCompletion(): string {
  return `# bash completion of sm; load it with: source <(sm completion bash)
_sm() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} line='' word='' files='' words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    [[ $word == -* ]] || line="\${line:+$line }$word"
  done
  case $line in
${positions().map(bashBranch).join('\n')}
  esac
  COMPREPLY=()
  if [[ -n $files && $current != -* ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  fi
}
complete -F _sm sm muster
`
}

function bashBranch({ after, isCommand, words, options, takesFile }: Position): string {
  const pattern = isCommand ? `'${after}' | '${after} '*` : `'${after}'`
  const flags = options.flatMap(([name, { short }]) => [
    `--${name}`,
    ...(short === undefined ? [] : [`-${short}`]),
  ])
  const all = [...words.map(({ word }) => word), ...flags].join(' ')
  const fileOptions = options.filter(([, { kind }]) => kind === 'file').map(([name]) => `--${name}`)
  const byOption =
    fileOptions.length === 0 ? '' : `; [[ $previous == ${fileOptions.join(' || $previous == ')} ]] && files=1`
  const choices = options.flatMap(([name, { suggests, choices: words_ = suggests }]) =>
    words_ === undefined ? [] : [`; [[ $previous == --${name} ]] && words='${words_.join(' ')}'`],
  )
  return `    ${pattern}) words='${all}'${takesFile ? '; files=1' : byOption}${choices.join('')} ;;`
}

/** The completion script of zsh. */
export function zshCompletion(): string {
  return `#compdef sm muster
# zsh completion of sm; load it with: source <(sm completion zsh)
_sm() {
  local line='' word=''
  local -a words_here options_here
  for word in \${words[2,CURRENT-1]}; do
    [[ $word == -* ]] || line="\${line:+$line }$word"
  done
  case $line in
${positions().map(zshBranch).join('\n')}
  esac
}
if [[ \${funcstack[1]} == _sm ]]; then _sm "$@"; else compdef _sm sm muster; fi
`
}

function zshBranch({ after, isCommand, words, options, takesFile }: Position): string {
  const pattern = isCommand ? `'${after}'|'${after} '*` : `'${after}'`
  const needsFiles = takesFile || options.some(([, { kind }]) => kind === 'file')
  return [
    `    ${pattern})`,
    ...options.flatMap(([name, { suggests, choices = suggests }]) =>
      choices === undefined
        ? []
        : [`      [[ \${words[CURRENT-1]} == --${name} ]] && { compadd ${choices.join(' ')}; return }`],
    ),
    ...(words.length === 0
      ? []
      : [`      words_here=(${words.map(({ word, about }) => item(word, about)).join(' ')})`]),
    `      options_here=(${options.map(([name, { about }]) => item(`--${name}`, about)).join(' ')})`,
    ...(words.length === 0 ? [] : ['      _describe command words_here']),
    '      _describe option options_here',
    ...(needsFiles ? ['      _files'] : []),
    '      ;;',
  ].join('\n')
}

function item(word: string, about: string): string {
  return `'${`${word}:${about.replaceAll(':', '\\:')}`.replaceAll("'", "'\\''")}'`
}

/** The completion script of fish. */
export function fishCompletion(): string {
  return `# fish completion of sm; keep it as ~/.config/fish/completions/sm.fish
function __sm_line
    set -l words (commandline -opc)
    string match -v -- '-*' $words[2..] | string join ' '
end
complete -c sm -f
${positions().flatMap(fishLines).join('\n')}
`
}

function fishLines({ after, isCommand, words, options, takesFile }: Position): string[] {
  const test = isCommand
    ? `string match -qr -- '^${after}( |$)' (__sm_line)`
    : `test "$(__sm_line)" = '${after}'`
  const head = `complete -c sm -n ${quote(test)}`
  return [
    ...words.map(({ word, about }) => `${head} -a ${word} -d ${quote(about)}`),
    ...options.map(([name, { short, kind, about, suggests, choices = suggests, bare }]) =>
      [
        head,
        `-l ${name}`,
        ...(short === undefined ? [] : [`-s ${short}`]),
        ...(kind === 'switch' || bare !== undefined ? [] : ['-r']),
        ...(choices === undefined ? [] : [`-a ${quote(choices.join(' '))}`]),
        ...(kind === 'file' ? ['-F'] : []),
        `-d ${quote(about)}`,
      ].join(' '),
    ),
    ...(takesFile ? [`${head} -F`] : []),
  ]
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
