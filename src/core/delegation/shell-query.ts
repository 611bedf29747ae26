import { type SimpleCommand, simpleCommands } from './shell-words.ts'

/** Whether every command in a command line only looks; tests and type checks run code, so they act. */
export function onlyQueries(line: string): boolean {
  const commands = simpleCommands(line)
  return (
    commands !== undefined && commands.length > 0 && commands.every((each) => !each.writes && queries(each))
  )
}

// A map, because a command may be called `constructor`.
function table<T>(entries: Record<string, T>): ReadonlyMap<string, T> {
  return new Map(Object.entries(entries))
}

const readers = new Set(
  `ls ll dir cat bat head tail wc pwd echo printf grep egrep fgrep rg ag ack tree stat file du df which type whereis
  printenv whoami id groups hostname uname ps pgrep uptime free nproc lscpu sort uniq cut tr nl rev tac less more diff
  cmp comm jq cd test [ true false basename dirname realpath readlink md5sum sha1sum sha256sum shasum cksum od xxd
  hexdump strings column fold fmt paste join expand seq date cal tput lsof netstat ss dig nslookup host man`.split(
    /\s+/,
  ),
)
/** Words that make an otherwise harmless command write, delete or run something. */
const betrayals = table<RegExp>({
  find: /^-(exec|execdir|ok|okdir|delete|fls|fprint|fprintf|fprint0)$/,
  sort: /^(-o|--output|-\w*o$|--output=)/,
  date: /^(-s|--set)/,
  tree: /^-o$/,
  sed: /^(-i|--in-place|-\w*i)/,
  yq: /^(-i|--inplace|-\w*i)/,
  less: /^(-o|-O|--log-file)/,
  hostname: /^[^-]/,
})
const gitReads = new Set(
  `status log diff show blame rev-parse rev-list ls-files ls-tree ls-remote describe shortlog cat-file grep
  for-each-ref name-rev merge-base count-objects whatchanged show-ref diff-tree diff-index diff-files var version
  help check-ignore cherry range-diff`.split(/\s+/),
)
/** Subcommands that only query in some of their forms. */
const partialReads = table<(args: readonly string[]) => boolean>({
  branch: (args) =>
    args.every((arg) =>
      /^(-a|-r|-v|-vv|--list|--all|--remotes|--show-current|--merged|--no-merged)$/.test(arg),
    ),
  tag: (args) => args.length === 0 || /^(-l|--list)$/.test(args[0] ?? ''),
  remote: (args) => args.length === 0 || /^(-v|--verbose|show|get-url)$/.test(args[0] ?? ''),
  stash: (args) => /^(list|show)$/.test(args[0] ?? ''),
  reflog: (args) => args.length === 0 || args[0] === 'show',
  config: (args) => /^(--get|--get-all|--list|-l|get|list)$/.test(args[0] ?? ''),
  worktree: (args) => args[0] === 'list',
  submodule: (args) => args[0] === 'status',
})
const toolReads = table<RegExp>({
  npm: /^(ls|list|view|info|outdated|why|root|prefix|bin|search)$/,
  pnpm: /^(ls|list|why|outdated|root)$/,
  yarn: /^(list|info|why)$/,
  cargo: /^(tree|metadata|search)$/,
  go: /^(version|env|list|doc)$/,
  pip: /^(list|show|freeze)$/,
  docker: /^(ps|images|logs|inspect|version|info|stats|top)$/,
  kubectl: /^(get|describe|logs|version|explain|top)$/,
  systemctl: /^(status|list-units|is-active|is-enabled|show|cat)$/,
  tmux: /^(ls|list-sessions|list-windows|list-panes|capture-pane|display-message|has-session|show-options)$/,
})
const wrappers = new Set(['time', 'nice', 'command', 'nohup', 'xargs', 'timeout', 'stdbuf', 'env', 'builtin'])

function queries({ words }: SimpleCommand): boolean {
  const [first, ...args] = words.slice(words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word)))
  if (first === undefined || /^[A-Za-z_]\w*=/.test(first)) return false
  const name = first.replace(/^.*\//, '')
  if (args.length === 1 && /^(--version|-V|--help)$/.test(args[0] ?? '')) return true
  if (wrappers.has(name)) return queriesWrapped(name, args)
  if (name === 'git') return queriesGit(args)
  if (name === 'gh') return /^(view|list|status|diff|checks)$/.test(args[1] ?? '') || args[0] === 'status'
  if (name === 'sed')
    return (
      args.includes('-n') && !args.some((arg) => betrayals.get('sed')?.test(arg) || /[0-9$/]w /.test(arg))
    )
  if (name === 'awk' || name === 'gawk') return !args.some((arg) => /system\s*\(|[>|]|-i\b|inplace/.test(arg))
  if (name === 'find' || name === 'yq' || readers.has(name))
    return !args.some((arg) => betrayals.get(name)?.test(arg))
  return toolReads.get(name)?.test(args.find((arg) => !arg.startsWith('-')) ?? '') ?? false
}

function queriesWrapped(name: string, args: readonly string[]): boolean {
  if (name === 'env' && args.length === 0) return true
  const takesValue = /^(-n|-I|-P|-L|-d|-s|-k|-i|-o|-e|-a|-u)$/
  let start = 0
  while (args[start]?.startsWith('-')) start += takesValue.test(args[start] ?? '') ? 2 : 1
  if (name === 'timeout') start += 1
  const inner = args.slice(start)
  // xargs without a command prints what it reads.
  return inner.length === 0 ? name === 'xargs' : queries({ words: inner, writes: false })
}

function queriesGit(args: readonly string[]): boolean {
  let start = 0
  while (args[start]?.startsWith('-'))
    start += /^(-C|-c|--git-dir|--work-tree)$/.test(args[start] ?? '') ? 2 : 1
  const [subcommand = '', ...rest] = args.slice(start)
  if (args.some((arg) => /^(--output|-c$|--ext-diff|--exec|-O$)/.test(arg))) return false
  return gitReads.has(subcommand) || (partialReads.get(subcommand)?.(rest) ?? false)
}
