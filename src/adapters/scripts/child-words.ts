import * as z from 'zod'

/** What the process of a script says; all of it may be made up by the script. */
export const ChildWords = z.union([
  z.strictObject({ begun: z.literal(true) }),
  z.strictObject({ id: z.int().positive(), call: z.unknown() }),
  z.strictObject({ done: z.unknown(), atMs: z.number() }),
  z.strictObject({ meta: z.unknown() }),
  z.strictObject({
    failed: z.strictObject({
      message: z.string(),
      line: z.string().max(300).optional(),
      missing: z.string().max(1000).optional(),
    }),
  }),
])

/** The last word of one that did what it was meant to. */
export type LastWord = Extract<z.infer<typeof ChildWords>, { done: unknown } | { meta: unknown }>
