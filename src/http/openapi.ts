import * as z from 'zod'
import { errorCodes } from '../contract/errors.ts'
import type { Access, Route } from '../contract/route.ts'
import { Problem, routeEntries } from '../contract/routes.ts'
import { wireVersions } from '../contract/version.ts'
import { sessionCookie, wireHeader } from './request-guards.ts'

type Json = Record<string, unknown>

/** The OpenAPI 3.1 document of the API, from the routes table alone. */
export function openapi(): Json & { openapi: string; paths: Record<string, Json> } {
  const paths: Record<string, Json> = {}
  const schemas: Json = { Problem: jsonSchema(Problem, 'output') }
  for (const [name, route] of routeEntries) {
    const output = `${name.charAt(0).toUpperCase()}${name.slice(1)}Answer`
    schemas[output] = jsonSchema(route.output, 'output')
    paths[route.path] = {
      ...paths[route.path],
      [route.method]: {
        operationId: name,
        summary: route.summary,
        'x-access': route.access,
        ...inputs(route),
        responses: { 200: answer(route, output), ...refusalsOf(route) },
        security: securityOf(route.access),
      },
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Muster',
      version: String(wireVersions.current),
      description: `Every request may, and every answer does, carry the wire version in ${wireHeader}.`,
    },
    paths,
    components: {
      schemas,
      responses: Object.fromEntries(byStatus.map(([status, codes]) => [`Refusal${status}`, refusal(codes)])),
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        cookie: { type: 'apiKey', in: 'cookie', name: sessionCookie },
      },
    },
  }
}

const proved = [{ token: [] }, { cookie: [] }]
const securityOf = (access: Access) => (access === 'open' ? [{}, ...proved] : proved)

function inputs(route: Route): Json {
  const schema = jsonSchema(route.input, 'input') as {
    properties?: Record<string, Json>
    required?: string[]
  }
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '')
  const isPost = route.method === 'post'
  const fields = Object.entries(schema.properties ?? {}).filter(([name]) => inPath.includes(name) || !isPost)
  const parameters = fields.map(([name, field]) => ({
    name,
    in: inPath.includes(name) ? 'path' : 'query',
    required: schema.required?.includes(name) ?? false,
    schema: field,
  }))
  const resume = {
    name: 'last-event-id',
    in: 'header',
    required: false,
    schema: { type: 'string', pattern: '^\\d+(\\.\\d+)?$' },
  }
  return {
    parameters: route.answers === 'sse' ? [...parameters, resume] : parameters,
    ...(isPost && { requestBody: { required: true, content: { 'application/json': { schema } } } }),
  }
}

function answer(route: Route, output: string): Json {
  const schema = { $ref: `#/components/schemas/${output}` }
  if (route.answers === 'json') return { description: 'Done.', content: { 'application/json': { schema } } }
  return {
    description:
      'Frames with an id of seq.part, an event name and one line of JSON. A frame named resync means that something was missed; a block with only an id moves the cursor.',
    content: { 'text/event-stream': { schema: { type: 'string' }, 'x-data-schema': schema } },
  }
}

type Codes = readonly (readonly [string, { readonly means: string }])[]

const byStatus = [...Map.groupBy(Object.entries(errorCodes), ([, { http }]) => http)]

const refusal = (codes: Codes): Json => ({
  description: codes.map(([code, { means }]) => `${code}: ${means}`).join('; '),
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } },
})

function refusalsOf(route: Route): Json {
  const possible = byStatus.filter(([, codes]) => codes.some(([code]) => couldRefuse(code, route)))
  return Object.fromEntries(
    possible.map(([status]) => [status, { $ref: `#/components/responses/Refusal${status}` }]),
  )
}

function couldRefuse(code: string, route: Route): boolean {
  if (code === 'too_large' || code === 'unsupported_media') return route.method === 'post'
  return code !== 'method_not_allowed'
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, $defs = {}, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return inlined(rest, $defs as Json) as Json
}

/** Named shapes in their place: a reference into one schema leads nowhere once that is a part of the document. */
function inlined(value: unknown, shapes: Json): unknown {
  if (Array.isArray(value)) return value.map((item) => inlined(item, shapes))
  if (typeof value !== 'object' || value === null) return value
  if ('$ref' in value && typeof value.$ref === 'string' && value.$ref.startsWith('#/$defs/')) {
    const { id: _id, ...shape } = shapes[value.$ref.slice('#/$defs/'.length)] as Json
    return inlined(shape, shapes)
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inlined(item, shapes)]))
}
