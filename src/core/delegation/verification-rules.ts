/** What is wrong with the words after a program, as the rest of a sentence about it; nothing when they only verify. */
export type Rule = (args: readonly string[]) => string | undefined

/** Any words but these, for programs that have no parts. */
export const anyBut =
  (never?: RegExp): Rule =>
  (args) =>
    problemIn(args, never)

/** Only with a word that makes it report instead of write. */
export const onlyWith =
  (needed: string, also: RegExp, never?: RegExp): Rule =>
  (args) =>
    args.some((word) => also.test(word))
      ? problemIn(args, never)
      : `has to be run with ${needed}, so that it only reports`

type Parts = {
  /** Options before the part. */
  readonly options?: RegExp
  /** Options whose value is the next word. */
  readonly valued?: RegExp
  readonly never?: RegExp
}

/** One part of a program, such as `git log`: its options before it are listed, those behind it are free but for some. */
export const partOf =
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

/** Targets of a build tool: every word is one, and every option is listed. */
export const targets =
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

/** Scripts of a package: `test`, or `run` and a script that says by its name that it verifies. */
export const scripts =
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

/** Code that comes by the command line instead of from the project. */
const remote = /(^|=)(data:|https?:)/i

function problemIn(args: readonly string[], never?: RegExp): string | undefined {
  const bad = args.find((word) => never?.test(word) || remote.test(word))
  return bad === undefined
    ? undefined
    : `may not have ${shown(bad)}, which writes or runs something else; leave it out`
}

const unknownOption = (word: string): string => `may not have ${shown(word)} there; leave it out`

const unknownPart = (part: string | undefined, known: readonly string[]): string =>
  `${part === undefined ? 'has to be followed by' : `${shown(part)} is not allowed; it may be`} one of ${known.join(', ')}`

const shown = (word: string): string => JSON.stringify(word.slice(0, 100))
