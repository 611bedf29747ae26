import * as z from 'zod'
import { ModelProtocol } from './config/providers.ts'

/** A model of some provider. */
export type ModelRef = { readonly provider: string; readonly id: string }

/** A provider of models: what is known to be there, and whether it can be used or why not. */
export const ModelStatus = z.strictObject({
  provider: z.string(),
  protocol: ModelProtocol,
  models: z.array(z.string()),
  usable: z.boolean(),
  why: z.string(),
})
export type ModelStatus = z.infer<typeof ModelStatus>
