import type * as z from 'zod'
import { nearest } from './nearest.ts'

/** One thing that does not fit a schema: where it is, which side of the colon, and what to do about it. */
export type SchemaProblem = {
  readonly path: readonly PropertyKey[]
  readonly part: 'key' | 'value'
  readonly message: string
}

/** The words that a misspelt key could have meant: those allowed beside it, and whole keys from elsewhere. */
export type KnownKeys = { beside(path: readonly PropertyKey[]): string[]; all(): readonly string[] }

/** Says in plain words what each issue of a failed parse (done with `reportInput`) is about. */
export function schemaProblems(issues: readonly z.core.$ZodIssue[], known: KnownKeys): SchemaProblem[] {
  return issues.flatMap(meantBranch).flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return [{ path: issue.path, ...explain(issue) }]
    return issue.keys.map((key) => ({
      path: [...issue.path, key],
      part: 'key' as const,
      message: unknownKey(key, issue.path, known),
    }))
  })
}

// Of several allowed shapes only the one that was tried is worth a word.
function meantBranch(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const isWrongShape = ({ code, path }: z.core.$ZodIssue) => code === 'invalid_type' && path.length === 0
  const meant = issue.errors.find((branch) => !branch.some(isWrongShape))
  return meant?.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] })) ?? [issue]
}

function unknownKey(key: string, path: readonly PropertyKey[], known: KnownKeys): string {
  const prefix = path.map(String)
  const sibling = nearest(key, known.beside(path))
  if (sibling !== undefined) return `unknown key; did you mean ${[...prefix, sibling].join('.')}?`
  const moved = known.all().find((other) => other.endsWith(`.${key}`))
  return moved === undefined ? 'unknown key' : `unknown key; did you mean ${moved}?`
}

function explain(issue: z.core.$ZodIssue): { part: 'key' | 'value'; message: string } {
  const part = issue.code === 'invalid_key' ? 'key' : 'value'
  return { part, message: wordsFor(issue) }
}

function wordsFor(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return wrongType(issue)
  if (issue.code === 'invalid_value') return wrongValue(issue)
  if (issue.code === 'too_small') return `must ${bound(issue, 'at least', issue.minimum)}`
  if (issue.code === 'too_big') return `must ${bound(issue, 'at most', issue.maximum)}`
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message
  return issue.message
}

function wrongType(issue: z.core.$ZodIssueInvalidType): string {
  const expected = typeWords[issue.expected] ?? issue.expected
  if (issue.input === undefined) return `is missing; expected ${expected}`
  const isWord = issue.expected === 'boolean' && typeof issue.input === 'string'
  const hint = isWord && /^(yes|no|on|off)$/i.test(String(issue.input)) ? '; write true or false' : ''
  return `expected ${expected}, found ${foundWords(issue.input)}${hint}`
}

function wrongValue(issue: z.core.$ZodIssueInvalidValue): string {
  const values = issue.values.map(String)
  const near = typeof issue.input === 'string' ? nearest(issue.input, values) : undefined
  const hint = near === undefined ? '' : `; did you mean ${near}?`
  return `expected ${values.join(', ')}, found ${foundWords(issue.input)}${hint}`
}

function bound(issue: { origin: string }, words: string, limit: number | bigint): string {
  if (issue.origin === 'string') return `have ${words} ${limit} ${limit === 1 ? 'character' : 'characters'}`
  if (issue.origin === 'array') return `have ${words} ${limit} ${limit === 1 ? 'item' : 'items'}`
  return `be ${words} ${limit}`
}

const typeWords: Record<string, string | undefined> = {
  object: 'a map',
  record: 'a map',
  array: 'a list',
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
}

// A value may be a secret that landed in the wrong place, so only short words are repeated.
function foundWords(input: unknown): string {
  if (input === null || input === undefined) return 'nothing'
  if (Array.isArray(input)) return 'a list'
  if (typeof input === 'string') return input.length <= 24 ? `the text "${input}"` : 'a text'
  if (typeof input === 'number' || typeof input === 'boolean') return String(input)
  return 'a map'
}
