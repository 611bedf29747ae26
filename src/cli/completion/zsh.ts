import { type Position, positions } from './positions.ts'

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
${positions().map(branch).join('\n')}
  esac
}
if [[ \${funcstack[1]} == _sm ]]; then _sm "$@"; else compdef _sm sm muster; fi
`
}

function branch({ after, isCommand, words, options, takesFile }: Position): string {
  const pattern = isCommand ? `'${after}'|'${after} '*` : `'${after}'`
  const needsFiles = takesFile || options.some(([, { kind }]) => kind === 'file')
  return [
    `    ${pattern})`,
    ...options.flatMap(([name, { choices }]) =>
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
