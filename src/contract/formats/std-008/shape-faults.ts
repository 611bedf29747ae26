import type * as z from 'zod'

/** A value that does not fit its schema, and where. */
export type ShapeFault = { readonly path: readonly PropertyKey[]; readonly message: string }

/** The faults of a value against a schema, each at its own path. */
export function shapeFaults(value: unknown, schema: z.ZodType): ShapeFault[] {
  const parsed = schema.safeParse(value)
  return (parsed.error?.issues ?? []).flatMap((issue) => faultsOf(issue, []))
}

function faultsOf(issue: z.core.$ZodIssue, above: readonly PropertyKey[]): ShapeFault[] {
  const path = [...above, ...issue.path]
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [{ path, message: issue.message }]
  // The option that fits best says most: a wrong verdict is not "neither a developer's nor a reviewer's output".
  const nearest = issue.errors.reduce((best, option) => (option.length < best.length ? option : best))
  return nearest.flatMap((inner) => faultsOf(inner, path))
}
