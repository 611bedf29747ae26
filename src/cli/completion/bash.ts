import { type Position, positions } from './positions.ts'

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
${positions().map(branch).join('\n')}
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

function branch({ after, isCommand, words, options, takesFile }: Position): string {
  const pattern = isCommand ? `'${after}' | '${after} '*` : `'${after}'`
  const flags = options.flatMap(([name, { short }]) => [
    `--${name}`,
    ...(short === undefined ? [] : [`-${short}`]),
  ])
  const all = [...words.map(({ word }) => word), ...flags].join(' ')
  const fileOptions = options.filter(([, { kind }]) => kind === 'file').map(([name]) => `--${name}`)
  const byOption =
    fileOptions.length === 0 ? '' : `; [[ $previous == ${fileOptions.join(' || $previous == ')} ]] && files=1`
  const choices = options.flatMap(([name, { choices: words_ }]) =>
    words_ === undefined ? [] : [`; [[ $previous == --${name} ]] && words='${words_.join(' ')}'`],
  )
  return `    ${pattern}) words='${all}'${takesFile ? '; files=1' : byOption}${choices.join('')} ;;`
}
