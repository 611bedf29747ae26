import type * as z from 'zod'
import type { Tokens } from '../../contract/values.ts'

/** All tokens of a model call: as its provider adds them up, else the sum of what it told. */
export const tokenTotal = ({
  total,
  input = 0,
  output = 0,
  cacheRead = 0,
  cacheWrite = 0,
}: z.infer<typeof Tokens>): number => total ?? input + output + cacheRead + cacheWrite
