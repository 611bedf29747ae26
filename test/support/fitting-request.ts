import fc from 'fast-check'
import * as z from 'zod'
import type { Route } from '../../src/contract/route.ts'
import { arbitraryOf } from './schema-arbitrary.ts'

/** The smallest input that fits a route: what it cannot do without, in plain values. */
export function fittingInput({ input }: Pick<Route, 'input'>): Record<string, unknown> {
  const { required = [] } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' })
  return Object.fromEntries(required.map((name) => [name, plainValue(input.shape[name] as z.ZodType)]))
}

function plainValue(schema: z.ZodType): unknown {
  const tried = ['one', '1', 1, '/p', {}, [{}], ...fc.sample(arbitraryOf(schema), { seed: 1, numRuns: 100 })]
  const found = tried.find((value) => schema.safeParse(value).success)
  if (found === undefined) throw new Error('no value of this field was found; teach arbitraryOf its schema')
  return found
}

/** The same as it is sent: what the path names, and the rest as a query or a body. */
export function fittingRequest(route: Route): {
  readonly path: string
  readonly body: Record<string, unknown>
} {
  const body = fittingInput(route)
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const { [name]: value } = body
    delete body[name]
    return String(value)
  })
  if (route.method === 'post') return { path, body }
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(body)) query.set(name, String(value))
  return { path: query.size > 0 ? `${path}?${query.toString()}` : path, body: {} }
}
