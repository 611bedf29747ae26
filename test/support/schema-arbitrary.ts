import fc from 'fast-check'
import * as z from 'zod'

type Schema = z.core.JSONSchema.BaseSchema

/** Any input a zod schema accepts: odd characters, missing optional fields and large numbers included. */
export function arbitraryOf(schema: z.ZodType): fc.Arbitrary<unknown> {
  return ofSchema(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }))
}

// What breaks naive text code: half characters, the end of a C string, marks, quotes, wide and long text.
const odd = [
  '',
  ' ',
  '\0',
  '\ud800',
  'a\0b',
  '\u0001x\u0002',
  '"',
  '*',
  'é',
  '漢字',
  '😀😀',
  '\n\t',
  'x'.repeat(300),
]

const text = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 20 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  { weight: 1, arbitrary: fc.constantFrom(...odd) },
)
const json = fc.oneof(text, fc.jsonValue({ maxDepth: 2 }), fc.constant(null))

function ofSchema(schema: Schema | boolean): fc.Arbitrary<unknown> {
  if (typeof schema === 'boolean') return json
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  const options = schema.anyOf ?? schema.oneOf
  if (options !== undefined) return fc.oneof(...options.map(ofSchema))
  const kinds: readonly unknown[] = Array.isArray(schema.type) ? schema.type : [schema.type]
  return fc.oneof(...kinds.map((kind) => makers[String(kind)]?.(schema) ?? json))
}

const makers: Readonly<Record<string, (schema: Schema) => fc.Arbitrary<unknown>>> = {
  object: objectOf,
  array: ({ items }) => fc.array(ofSchema((items as Schema | undefined) ?? true), { maxLength: 4 }),
  string: textOf,
  integer: ({ exclusiveMinimum }) => {
    const least = exclusiveMinimum === undefined ? 0 : Number(exclusiveMinimum) + 1
    return fc.oneof(
      fc.integer({ min: least, max: 100_000 }),
      fc.maxSafeNat().filter((n) => n >= least),
    )
  },
  number: ({ minimum, exclusiveMinimum, maximum }) =>
    fc.double({
      min: Number(exclusiveMinimum ?? minimum ?? 0),
      minExcluded: exclusiveMinimum !== undefined,
      max: maximum ?? 1e15,
      noNaN: true,
    }),
  null: () => fc.constant(null),
  boolean: () => fc.boolean(),
}

function objectOf({ properties, required = [], additionalProperties }: Schema): fc.Arbitrary<unknown> {
  if (properties === undefined) {
    const values = typeof additionalProperties === 'object' ? ofSchema(additionalProperties) : json
    return fc.dictionary(fc.string({ maxLength: 8 }), values, { maxKeys: 4 })
  }
  const fields = Object.entries(properties).map(([name, field]) => [name, ofSchema(field as Schema)])
  return fc.record(Object.fromEntries(fields), { requiredKeys: required as never[] })
}

function textOf({ pattern, format, maxLength = Infinity, minLength = 0 }: Schema): fc.Arbitrary<string> {
  if (format === 'date-time') return fc.date({ noInvalidDate: true, min, max }).map((at) => at.toISOString())
  if (pattern !== undefined) {
    // fast-check cannot look ahead, so what that would forbid is filtered out.
    const whole = new RegExp(pattern)
    return fc
      .stringMatching(new RegExp(pattern.replace(/\(\?!.*?\)/, '')))
      .filter((value) => whole.test(value))
  }
  return text.filter((value) => value.length >= minLength && value.length <= maxLength)
}

const min = new Date('2020-01-01T00:00:00.000Z')
const max = new Date('2030-01-01T00:00:00.000Z')
