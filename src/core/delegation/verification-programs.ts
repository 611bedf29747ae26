/** Any words but these, for programs that have no parts. */
const anyBut =
  (never?: RegExp): Rule =>
  (args) =>
    problemIn(args, never)

/** Code that comes by the command line instead of from the project. */
const remote = /(^|=)(data:|https?:)/i

const shown = (word: string): string => JSON.stringify(word.slice(0, 100))

const any = anyBut()
const changesFiles = /^(-u|--(fix|write|apply|update|output|init)([=-].*|-?[sS]napshots?)?)$/
const checker = anyBut(changesFiles)
const packageOptions =
  /^(-s|-q|-r|-ws|--(silent|quiet|workspaces|recursive|if-present|include-workspace-root|color|no-color|offline)|--(workspace|filter|prefix|cwd|dir)=.*)$/
const packageValues = /^(-w|-F|-C|--(workspace|filter|prefix|cwd|dir))$/

/** Scripts of a package: `test`, or `run` and a script that says by its name that it verifies. */
const scripts =
  ({ isShort = false, ...given }: Parts & { readonly isShort?: boolean }): Rule =>
  (args) => {
    const end = args.indexOf('--')
    const own = end === -1 ? args : args.slice(0, end)
    const begin = beginOf(own, given)
    if (typeof begin === 'string') return begin
    const isRun = /^(run|run-script)$/.test(own[begin] ?? '')
    const next = isRun ? beginOf(own.slice(begin + 1), given) : 0
    if (typeof next === 'string') return next
    const script = own[isRun ? begin + 1 + next : begin]
    if (script === undefined) return 'has to be told which script to run, such as test or lint'
    if (!(isRun || isShort ? isScript(script) : /^(test|t|tst)$/.test(script)))
      return `${shown(script)} is not a script that only tests, checks, lints or builds`
    // npm takes what stands before `--` for itself, and by that another shell; the others pass it on.
    const late = isShort
      ? undefined
      : own.slice(begin + 1).find((word) => isOption(word) && !given.options?.test(word))
    return late === undefined ? undefined : unknownOption(late)
  }

const verifying =
  /(^|[:._-])(tests?|spec|unit|e2e|integration|coverage|checks?|typecheck|types?|tsc|lint|build|compile|verify|validate|vet|clippy)([:._-]|$)/i
const changing =
  /(^|[:._-])(fix|write|update|publish|deploy|release|install|uninstall|push|upload|clean|apply|format|start|serve|dev)([:._-]|$)/i

const isScript = (name: string): boolean =>
  verifying.test(camelParts(name)) && !changing.test(camelParts(name))

const camelParts = (name: string): string => name.replace(/([a-z])([A-Z])/g, '$1-$2')

const isOption = (word: string): boolean => word.startsWith('-')

const unknownOption = (word: string): string => `may not have ${shown(word)} there; leave it out`

const manager = scripts({ options: packageOptions, valued: packageValues, isShort: true })

const looking: Readonly<Record<string, Rule>> = {
  ...Object.fromEntries(
    [
      'basename cat cd cmp comm cut df diff dirname du echo egrep false fgrep fold grep head jq ls nl od paste printf pwd',
      'readlink realpath seq sha256sum sleep stat strings tac tail test tr true type wc which',
    ]
      .flatMap((line) => line.split(' '))
      .map((name) => [name, any]),
  ),
  // What it may do is decided by the daemon, for each session.
  sm: any,
  rg: anyBut(/^--(pre|hostname-bin)/),
  find: anyBut(/^-(exec|ok|delete|fprint|fls)/),
  sort: anyBut(/^(-[a-zA-Z]*o|--o|--co|--files0)/),
  uniq: (args) =>
    args.filter((word) => !word.startsWith('-')).length > 1
      ? 'writes its second file; give it one'
      : undefined,
  tree: anyBut(/^-[a-zA-Z]*[oR]/),
  file: anyBut(/^(-[a-zA-Z]*C|--c)/),
  sed: (args) =>
    args[0] === '-n' &&
    /^(\d+|\$)(,\+?(\d+|\$))?p$/.test(args[1] ?? '') &&
    !args.slice(2).some((word) => word.startsWith('-'))
      ? undefined
      : "may only print lines, as in sed -n '10,20p' FILE",
}

const listing =
  (allowed: RegExp): Rule =>
  (args) =>
    args.every((word) => allowed.test(word)) ? undefined : 'may only list here'

/** One part of a program, such as `git log`: its options before it are listed, those behind it are free but for some. */
const partOf =
  (parts: Readonly<Record<string, Rule | undefined>>, given: Parts = {}): Rule =>
  (args) => {
    const begin = beginOf(args, given)
    if (typeof begin === 'string') return begin
    const part = args[begin]
    if (part === undefined || !Object.hasOwn(parts, part)) return unknownPart(part, Object.keys(parts))
    const rest = args.slice(begin + 1)
    const problem = problemIn(rest, given.never) ?? parts[part]?.(rest)
    return problem === undefined ? undefined : `${part} ${problem}`
  }

const unknownPart = (part: string | undefined, known: readonly string[]): string =>
  `${part === undefined ? 'has to be followed by' : `${shown(part)} is not allowed; it may be`} one of ${known.join(', ')}`

const git = partOf(
  {
    ...Object.fromEntries(
      'status diff log show blame ls-files ls-tree rev-parse rev-list describe shortlog merge-base diff-tree for-each-ref check-ignore count-objects'
        .split(' ')
        .map((name) => [name, any]),
    ),
    grep: anyBut(/^(-[a-zA-Z]*O|--op)/),
    branch: listing(/^(-a|-r|-v+|-vv|-l|--(list|all|remotes|verbose|show-current|merged|no-merged))$/),
    tag: listing(/^(-l|--list|--sort=.*|-n\d*)$/),
    remote: listing(/^(-v|--verbose)$/),
    stash: partOf({ list: any, show: any }),
    worktree: partOf({ list: any }),
  },
  {
    options: /^(--no-pager|-P|--no-optional-locks|--literal-pathspecs)$/,
    valued: /^-C$/,
    never: /^(--ou|--ext|--upload-pack)/,
  },
)

const rustSub = { never: /^(--config|--fix|--allow-|-Z|--out-dir|--artifact)/ }
const goSub = { never: /^--?(exec|toolexec|vettool|o|overlay|modfile|c|fix|w)(=|$)/ }
const build =
  /^(-q|-s|-k|-j\d*|-B|-o|-am|-D[\w.-]+(=.*)?|--(silent|quiet|keep-going|jobs=\d+|offline|no-daemon|info|stacktrace|continue|batch-mode|console=\w+|tests=.*|parallel))$/

/** Only with a word that makes it report instead of write. */
const onlyWith =
  (needed: string, also: RegExp, never?: RegExp): Rule =>
  (args) =>
    args.some((word) => also.test(word))
      ? problemIn(args, never)
      : `has to be run with ${needed}, so that it only reports`

/** Targets of a build tool: every word is one, and every option is listed. */
const targets =
  ({ options, valued }: Pick<Parts, 'options' | 'valued'>): Rule =>
  (args) => {
    const said: string[] = []
    for (let i = 0; i < args.length; i += 1) {
      const word = args[i] as string
      if (valued?.test(word)) i += 1
      else if (!word.startsWith('-')) said.push(word)
      else if (!options?.test(word)) return unknownOption(word)
    }
    if (said.length === 0) return 'has to be told what to run, such as test or check'
    const other = said.find((word) => !isScript(word))
    return other === undefined
      ? undefined
      : `${shown(other)} is not one that only tests, checks, lints or builds`
  }

/** Programs that a package of a project brings, which others may run for it. */
const tools: Readonly<Record<string, Rule>> = {
  ...Object.fromEntries(
    [
      'vitest jest mocha ava tap tsc vue-tsc svelte-check eslint oxlint stylelint knip tsd pytest mypy pyright flake8',
      'pylint unittest phpunit phpstan rspec ctest shellcheck hadolint actionlint yamllint staticcheck',
    ]
      .flatMap((line) => line.split(' '))
      .map((name) => [name, checker]),
  ),
  pytest: anyBut(/^--(pa|junit|update|snapshot-update|pdb)/),
  mypy: anyBut(/^--(install|junit|.*-report)/),
  rubocop: anyBut(/^(-a|-A|-x|-o|--(auto|fix|out|safe))/),
  prettier: onlyWith('--check', /^(-c|--check|-l|--list-different)$/, /^(-w|--write)$/),
  black: onlyWith('--check', /^--(check|diff)$/),
  isort: onlyWith('--check', /^(-c|--check(-only)?|--diff)$/),
  biome: partOf({ check: checker, lint: checker, ci: checker, format: checker }),
  playwright: partOf({ test: anyBut(/^(-u|--update|--ui)/) }),
  ruff: partOf({
    check: anyBut(/^(-o|-w|--(fix|output-file|watch|add-noqa|unsafe))/),
    format: onlyWith('--check', /^--(check|diff)$/),
  }),
  rake: targets({ options: /^(-q|-s)$/ }),
}

const runners: Readonly<Record<string, Rule>> = {
  npm: (args) =>
    args[0] === 'ls' ? checker(args) : scripts({ options: packageOptions, valued: packageValues })(args),
  pnpm: manager,
  yarn: manager,
  bun: manager,
  node: (args) =>
    /^--(test|check)$/.test(args[0] ?? '')
      ? anyBut(
          /^-(?!-test(?!-update|-reporter-d|-global)|-no-warnings$|-enable-source-maps$|-experimental-strip-types$)/,
        )(args.slice(1))
      : 'may only be run as node --test or node --check',
  deno: partOf({ test: any, check: any, lint: checker, fmt: onlyWith('--check', /^--check$/) }),
  cargo: partOf(
    {
      ...Object.fromEntries('test check clippy build tree metadata'.split(' ').map((name) => [name, any])),
      nextest: partOf({ run: any, list: any }),
      fmt: onlyWith('--check', /^--check$/),
    },
    { options: /^(-q|-v|--(quiet|verbose|offline|locked|frozen)|--color=\w+)$/, ...rustSub },
  ),
  go: partOf({ test: any, vet: any, build: any, list: any, version: any }, goSub),
  'golangci-lint': partOf({ run: anyBut(/^--(fix|out)/) }),
  dotnet: partOf({ test: any, build: anyBut(/^(-o|--output)/) }),
  swift: partOf({ test: any, build: any }),
  mix: partOf({
    test: any,
    credo: any,
    compile: any,
    format: onlyWith('--check-formatted', /^--check-formatted$/),
  }),
  flutter: partOf({ test: any, analyze: any }),
  dart: partOf({ test: any, analyze: any }),
  terraform: partOf({ validate: any, fmt: onlyWith('-check', /^--?check$/) }),
  make: targets({ options: build, valued: /^(-C|-j)$/ }),
  just: targets({ options: build }),
  mvn: targets({ options: build, valued: /^(-pl|-f)$/ }),
  gradle: targets({ options: build, valued: /^(--tests|-p)$/ }),
}

const rules: Readonly<Record<string, Rule>> = {
  ...looking,
  ...tools,
  ...runners,
  git,
  './mvnw': runners['mvn'] as Rule,
  './gradlew': runners['gradle'] as Rule,
}

/** Programs that run the rest of their words as a command, and the options that they may have before it. */
const timing: Readonly<Record<string, RegExp>> = {
  time: /^-p$/,
  timeout: /^(--kill-after=\S+|\d+(\.\d+)?[smh]?)$/,
}

/** Those look for a tool in the project, and may fetch one of that name from elsewhere: only known ones. */
const fetching: Readonly<Record<string, RegExp>> = {
  npx: /^(--no|--no-install)$/,
  bunx: /^$/,
  'npm exec': /^(--no|--)$/,
  'pnpm exec': /^$/,
  'yarn exec': /^$/,
  'bundle exec': /^$/,
  'uv run': /^--(frozen|locked|offline|no-sync)$/,
  'poetry run': /^$/,
  'pipenv run': /^$/,
  'python -m': /^$/,
  'python3 -m': /^$/,
}

type Known = { readonly rules: Readonly<Record<string, Rule>>; readonly depth: number }

/** Why a program may not be run with these words; nothing when it only verifies or looks. */
export function problemOf(
  program: string,
  args: readonly string[],
  known: Known = { rules, depth: 0 },
): string | undefined {
  const both = `${program} ${args[0] ?? ''}`
  for (const [wrappers, inside] of [[timing, known.rules] as const, [fetching, tools] as const]) {
    const name = [program, both].find((one) => Object.hasOwn(wrappers, one))
    if (name === undefined || known.depth === deepest) continue
    const rest = args.slice(name === both ? 1 : 0)
    const begin = rest.findIndex((word) => !wrappers[name]?.test(word))
    const inner = rest[begin]
    if (inner === undefined || inner.startsWith('-'))
      return `${name} has to be followed by the name of a program that tests or checks`
    return problemOf(inner, rest.slice(begin + 1), { rules: inside, depth: known.depth + 1 })
  }
  const rule = Object.hasOwn(known.rules, program) ? known.rules[program] : undefined
  if (!rule)
    return `${program.slice(0, 100)} is not among the programs for that; run the tests, types, lint or build, or look with git, ls, cat, grep`
  const problem = rule(args)
  return problem === undefined ? undefined : `${program} ${problem}`
}

const deepest = 3

/** What is wrong with the words after a program, as the rest of a sentence about it; nothing when they only verify. */
type Rule = (args: readonly string[]) => string | undefined

type Parts = {
  /** Options before the part. */
  readonly options?: RegExp
  /** Options whose value is the next word. */
  readonly valued?: RegExp
  readonly never?: RegExp
}

/** Where the first word is that is neither an option nor the value of one; a text when an option is not listed. */
function beginOf(args: readonly string[], { options, valued }: Parts): number | string {
  for (let i = 0; i < args.length; i += 1) {
    const word = args[i] as string
    if (valued?.test(word)) i += 1
    else if (!isOption(word)) return i
    else if (!options?.test(word)) return unknownOption(word)
  }
  return args.length
}

function problemIn(args: readonly string[], never?: RegExp): string | undefined {
  const bad = args.find((word) => never?.test(word) || remote.test(word))
  return bad === undefined
    ? undefined
    : `may not have ${shown(bad)}, which writes or runs something else; leave it out`
}
