import type * as z from 'zod'
import type { CheckRun } from '../../contract/collaboration/crew-report.ts'
import type { ReviewerInput } from '../../contract/session-file/outputs.ts'
import { shellText, shellTokens } from '../../contract/shell-lexer.ts'
import { checkNames } from './required-checks.ts'

/** A command that an agent ran, and how it ended. */
export type SeenCommand = { readonly command: string; readonly exitCode: number }

type Criteria = NonNullable<z.infer<typeof ReviewerInput>['criteria']>

type Wanted = {
  readonly name: string
  readonly isRequired: boolean
  /** The part of a line that is this check; -1 when none is. */
  readonly find: (parts: readonly Part[]) => number
  readonly expected?: number
}

/** Programs that check, or run what a project has for it; in the words of others, such as grep, a check is only named. */
const runner =
  /^(?:\S*\/)?(npm|pnpm|yarn|bunx?|npx|node|deno|cargo|go|dotnet|swift|mix|flutter|dart|make|just|mvnw?|gradlew?|rake|bundle|uv|poetry|pipenv|python3?|time|timeout|vitest|jest|mocha|ava|tap|pytest|phpunit|rspec|ctest|playwright|tsc|vue-tsc|svelte-check|mypy|pyright|eslint|oxlint|ruff|flake8|pylint|biome)(\s|$)/

/** One of these words, by itself or as a part of the name of a script. */
const saying = (words: string): RegExp => new RegExp(`(^|[\\s:._/-])(${words})([\\s:._-]|$)`, 'i')

const testing = saying(
  'tests?|tst|spec|unit|e2e|integration|nextest|vitest|jest|mocha|ava|tap|pytest|unittest|phpunit|rspec|ctest|playwright',
)
const typing = saying(
  'typecheck|types?|tsc|vue-tsc|svelte-check|mypy|pyright|check|compile|build|vet|clippy|analyze',
)
const linting = saying('lint|eslint|oxlint|clippy|ruff|flake8|pylint|biome')

const runs =
  (...[pattern, not]: readonly RegExp[]) =>
  (parts: readonly Part[]): number =>
    parts.findLastIndex(({ words }) => runner.test(words) && pattern?.test(words) && !not?.test(words))

const tests = (isRequired: boolean): Wanted => ({ name: checkNames.test, isRequired, find: runs(testing) })
const types = (isRequired: boolean): Wanted => ({
  name: checkNames.typeCheck,
  isRequired,
  find: runs(typing, testing),
})

/** What the calls of a developer show of its checks; nothing of those that it did not run. */
export const developerChecks = (seen: readonly SeenCommand[]): CheckRun[] =>
  [tests(false), types(false)]
    .map((wanted) => checkSeen(wanted, seen))
    .filter(({ passed }) => passed !== null)

/** What the calls of a reviewer show of the checks that it was to run; one that nobody saw did not run. */
export function reviewerChecks(criteria: Criteria | undefined, seen: readonly SeenCommand[]): CheckRun[] {
  const { must_pass_tests = false, must_pass_type_check = false, must_pass_lint = false } = criteria ?? {}
  const custom = (criteria?.custom_checks ?? []).flatMap((check): Wanted[] => {
    // Words that are no command are for the reviewer to judge.
    if (typeof check === 'string') return runner.test(check) ? [commandRun(check, check)] : []
    const { name, command, expected_exit_code: expected } = check
    return [{ ...commandRun(name, command), expected }]
  })
  const lint: Wanted[] = must_pass_lint ? [{ name: 'lint', isRequired: true, find: runs(linting) }] : []
  return [tests(must_pass_tests), types(must_pass_type_check), ...lint, ...custom]
    .map((wanted) => checkSeen(wanted, seen))
    .filter(({ required, passed }) => required || passed !== null)
}

function commandRun(name: string, command: string): Wanted {
  const wanted = partsOf(command).map(({ words }) => words)
  return {
    name,
    isRequired: true,
    find: (parts) => {
      const begin = parts.findLastIndex((_, i) => wanted.every((words, n) => parts[i + n]?.words === words))
      return begin < 0 || wanted.length === 0 ? -1 : begin + wanted.length - 1
    },
  }
}

/** The last run of a check counts. */
function checkSeen({ name, isRequired, find, expected = 0 }: Wanted, seen: readonly SeenCommand[]): CheckRun {
  const last = seen
    .map(({ command, exitCode }) => ({ command, exitCode, parts: partsOf(command) }))
    .findLast(({ parts }) => find(parts) >= 0)
  if (!last) return { name, required: isRequired, passed: null, because: 'it was not seen to run' }
  const { command, parts, exitCode } = last
  const result = resultOf(parts.slice(find(parts)), { exitCode, expected })
  return { name, command: command.slice(0, 1000), required: isRequired, ...result }
}

/** The exit code of a line is that of its last command; what it says of one before depends on what joins them. */
function resultOf(
  [part, ...rest]: readonly Part[],
  { exitCode, expected }: { readonly exitCode: number; readonly expected: number },
): Pick<CheckRun, 'passed' | 'because'> {
  const joins = rest.length === 0 ? [] : [part, ...rest].slice(0, -1).map((one) => one?.joinedBy)
  const other = joins.find((join) => join !== '&&')
  if (other !== undefined)
    return { passed: null, because: `its own result was not seen: ${other} and another command follow it` }
  return exitCode === expected
    ? { passed: true }
    : { passed: false, because: `it ended with exit code ${exitCode}` }
}

/** One command of a line without the variables that it sets, and what joins it to the next. */
type Part = { readonly words: string; readonly joinedBy?: string }

function partsOf(line: string): Part[] {
  const parts: { words: string[]; joinedBy?: string }[] = [{ words: [] }]
  for (const token of shellTokens(line)) {
    const last = parts.at(-1)
    if (!last) break
    if (token.kind === 'word') {
      const word = shellText(token.pieces)
      if (last.words.length > 0 || !/^\w+=/.test(word)) last.words.push(word)
    } else if (token.kind === 'end' && last.words.length > 0) {
      last.joinedBy = token.source === '\n' ? 'a new line' : token.source
      parts.push({ words: [] })
    }
  }
  return parts
    .filter(({ words }) => words.length > 0)
    .map(({ words, joinedBy }) => ({ words: words.join(' '), ...(joinedBy !== undefined && { joinedBy }) }))
}
