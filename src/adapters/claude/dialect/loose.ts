import * as z from 'zod'

/**
 * Fields of a program that changes weekly: one that is missing, null or of another kind reads as nothing,
 * so that it cannot hide the fields beside it.
 */
export const text = z.string().min(1).optional().catch(undefined)
export const number = z.number().optional().catch(undefined)
export const flag = z.boolean().optional().catch(undefined)
export const anything = z.unknown().optional()
export const record = z.record(z.string(), z.unknown()).optional().catch(undefined)

/** A list whose entries that do not fit are left out. */
export const listOf = <T extends z.ZodType>(entry: T) =>
  z
    .array(z.unknown())
    .catch([])
    .transform((entries) =>
      entries.flatMap((one): z.output<T>[] => {
        const read = entry.safeParse(one)
        return read.success ? [read.data] : []
      }),
    )

/** An object that may be missing. */
export const objectOf = <T extends z.ZodRawShape>(shape: T) =>
  z.looseObject(shape).optional().catch(undefined)
