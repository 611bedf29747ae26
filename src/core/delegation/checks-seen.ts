import { type ShellToken, shellTokens } from '../../contract/shell-lexer.ts'
import { type ShellWord, shellParts } from './shell-parts.ts'

/** A check that the session file has a field for. */
export type CheckKind = 'tests' | 'type_check'

/** Programs that run checks, by themselves or by the script that they are told. */
const runners =
  /^(npm|npx|pnpm|yarn|bun|bunx|node|deno|vitest|jest|mocha|ava|tap|tsc|vue-tsc|mypy|pyright|pytest|tox|nox|python3?|uv|poetry|go|cargo|dotnet|mix|swift|make|just|gradlew?|mvnw?|sbt|rspec|bundle|rake|phpunit|composer|ctest)$/
const kinds: Readonly<Record<CheckKind, RegExp>> = {
  tests: /^(--test|tests?|vitest|jest|mocha|ava|tap|pytest|tox|nox|rspec|phpunit|ctest|spec|e2e)$/,
  type_check: /^(tsc|mypy|pyright|types?|typecheck)$/,
}

/**
 * Which checks a command line runs so that it succeeds only when they do. What follows a pipe, `;` or `||` decides by
 * itself, so nothing is known of what stands before it.
 */
export function checksIn(line: string): ReadonlySet<CheckKind> {
  const read = shellParts(line)
  if (!read.ok || !everyPartCounts(shellTokens(line))) return new Set()
  return new Set(read.parts.flatMap(kindsOf))
}

function everyPartCounts(tokens: Iterable<ShellToken>): boolean {
  for (const token of tokens) if (token.kind === 'end' && token.source !== '&&') return false
  return true
}

function kindsOf(words: readonly ShellWord[]): CheckKind[] {
  const texts = words.map(({ text }) => text).filter((text) => !/^\w+=/.test(text))
  const program = texts[0]?.split('/').at(-1) ?? ''
  if (!runners.test(program)) return []
  const said = [program, ...texts.slice(1)].flatMap(namesIn)
  return (['tests', 'type_check'] as const).filter((kind) => said.some((word) => kinds[kind].test(word)))
}

/** A word and its parts: `npm run test:unit` and `typeCheck` say by a part of their name what they are, an option does not. */
function namesIn(word: string): string[] {
  if (word.startsWith('-')) return [word]
  const parts = word
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace('type-check', 'typecheck')
  return [word, ...parts.split(/[:_-]+/)]
}
