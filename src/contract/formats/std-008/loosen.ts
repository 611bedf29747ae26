import * as z from 'zod'

const made = new WeakMap<z.core.$ZodType, z.ZodType>()

/** The reading twin of a schema: the same fields, but unknown ones are kept at every level. */
export function loosen<T extends z.ZodType>(schema: T): z.ZodType<z.output<T>> {
  const known = made.get(schema)
  if (known) return known as z.ZodType<z.output<T>>
  const loose = twin(schema)
  made.set(schema, loose)
  return loose as z.ZodType<z.output<T>>
}

function twin(schema: z.core.$ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) return looseObject(schema)
  if (schema instanceof z.ZodArray) return z.array(loosenCore(schema.element))
  if (schema instanceof z.ZodOptional) return loosenCore(schema.unwrap()).optional()
  if (schema instanceof z.ZodUnion) return z.union(schema.options.map((option) => loosenCore(option)))
  return schema as z.ZodType
}

function looseObject(schema: z.ZodObject): z.ZodType {
  const shape = Object.fromEntries(
    Object.entries(schema.shape).map(([key, field]) => [key, loosenCore(field)]),
  )
  const checks = schema.def.checks ?? []
  const loose = z.looseObject(shape)
  return checks.length > 0 ? loose.check(...(checks as z.core.$ZodCheck<Record<string, unknown>>[])) : loose
}

const loosenCore = (schema: z.core.$ZodType): z.ZodType => loosen(schema as z.ZodType)
