import * as z from 'zod'

const Schema = z.looseObject({
  type: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .catch(undefined),
  enum: z.array(z.unknown()).optional().catch(undefined),
  anyOf: z.array(z.unknown()).optional().catch(undefined),
  oneOf: z.array(z.unknown()).optional().catch(undefined),
  properties: z.record(z.string(), z.unknown()).optional().catch(undefined),
  items: z.unknown().optional(),
  minItems: z.number().optional().catch(undefined),
  minimum: z.number().optional().catch(undefined),
})

const deepest = 12

/** The plainest value that fits a JSON schema, also one in Gemini's capital letters. */
export function sampleOfSchema(schema: unknown, depth = 0): unknown {
  const parsed = Schema.safeParse(schema)
  if (!parsed.success || depth > deepest) return 'ok'
  const { type, properties, items, minItems = 0, minimum = 0, ...rest } = parsed.data
  if ('const' in rest) return rest['const']
  if (rest.enum?.length) return rest.enum[0]
  const [choice] = rest.anyOf ?? rest.oneOf ?? []
  if (choice !== undefined) return sampleOfSchema(choice, depth + 1)
  switch ([type].flat()[0]?.toLowerCase() ?? (properties === undefined ? 'string' : 'object')) {
    case 'object': {
      const fields = Object.entries(properties ?? {})
      return Object.fromEntries(fields.map(([name, field]) => [name, sampleOfSchema(field, depth + 1)]))
    }
    case 'array':
      return Array.from({ length: Math.min(minItems, 10) }, () => sampleOfSchema(items, depth + 1))
    case 'boolean':
      return false
    case 'number':
    case 'integer':
      return Math.ceil(minimum)
    case 'null':
      return null
    default:
      return 'ok'
  }
}
