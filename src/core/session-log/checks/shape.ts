import type * as z from 'zod'
import type { Report } from '../report.ts'

/** The faults of a value against a schema, each at its own path. */
export function checkShape(value: unknown, schema: z.ZodType, report: Report): boolean {
  const parsed = schema.safeParse(value)
  for (const issue of parsed.error?.issues ?? []) reportIssue(issue, [], report)
  return parsed.success
}

function reportIssue(issue: z.core.$ZodIssue, above: readonly PropertyKey[], report: Report): void {
  const path = [...above, ...issue.path]
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) {
    report('schema', path, issue.message)
    return
  }
  // The option that fits best says most: a wrong verdict is not "neither a developer's nor a reviewer's output".
  const nearest = issue.errors.reduce((best, option) => (option.length < best.length ? option : best))
  for (const inner of nearest) reportIssue(inner, path, report)
}
