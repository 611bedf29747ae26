import { AppError } from '../contract/errors.ts'
import type { Route } from '../contract/route.ts'

/** What a request says, before it is checked. */
export type RawInput = {
  readonly params: Readonly<Record<string, string>>
  readonly queries: Readonly<Record<string, readonly string[]>>
  readonly body: unknown
}

/** Checks what a request says against its route; a refusal names each place that does not fit. */
export function readInput(route: Route, { params, queries, body }: RawInput): Record<string, unknown> {
  const fields = route.method === 'post' ? objectBody(body) : single(queries)
  const parsed = route.input.safeParse({ ...fields, ...params })
  if (parsed.success) return parsed.data
  const details = parsed.error.issues.map((issue) => ({
    path: issue.path.map(String).join('.'),
    message: issue.message,
  }))
  const [worst] = details
  const more = details.length > 1 ? ` (and ${details.length - 1} more)` : ''
  throw new AppError('invalid', `${worst?.path ? `${worst.path}: ` : ''}${worst?.message ?? ''}${more}`, {
    details,
  })
}

function objectBody(body: unknown): object {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body
  throw new AppError('invalid', 'the body must be a JSON object')
}

// Which of two values is meant is a guess, and guesses differ between servers.
function single(queries: RawInput['queries']): Record<string, string> {
  const fields: Record<string, string> = Object.create(null) as Record<string, string>
  for (const [name, values] of Object.entries(queries)) {
    if (values.length > 1)
      throw new AppError('invalid', `${name}: given ${values.length} times; give it once`)
    fields[name] = values[0] ?? ''
  }
  return fields
}
