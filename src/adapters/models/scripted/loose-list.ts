import * as z from 'zod'

/** A list of foreign things: one that does not fit is left out, and does not take the others with it. */
export function looseList<T extends z.ZodType>(item: T) {
  return z
    .array(item.optional().catch(undefined))
    .catch([])
    .transform((list) => list.filter((one): one is Exclude<typeof one, undefined> => one !== undefined))
}
