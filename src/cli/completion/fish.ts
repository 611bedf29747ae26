import { type Position, positions } from './positions.ts'

/** The completion script of fish. */
export function fishCompletion(): string {
  return `# fish completion of sm; keep it as ~/.config/fish/completions/sm.fish
function __sm_line
    set -l words (commandline -opc)
    string match -v -- '-*' $words[2..] | string join ' '
end
complete -c sm -f
${positions().flatMap(lines).join('\n')}
`
}

function lines({ after, isCommand, words, options, takesFile }: Position): string[] {
  const test = isCommand
    ? `string match -qr -- '^${after}( |$)' (__sm_line)`
    : `test "$(__sm_line)" = '${after}'`
  const head = `complete -c sm -n ${quote(test)}`
  return [
    ...words.map(({ word, about }) => `${head} -a ${word} -d ${quote(about)}`),
    ...options.map(([name, { short, kind, about, choices, bare }]) =>
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
