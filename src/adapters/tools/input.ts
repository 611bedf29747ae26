import * as z from 'zod'

/** A path as a model writes it. */
export const FilePath = z
  .string()
  .min(1)
  .max(4096)
  .refine((path) => !path.includes('\0'), 'a path has no NUL character')
