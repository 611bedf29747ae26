import * as z from 'zod'
import { ModelProtocol } from './config/model-settings.ts'

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

/** Every provider, and which model an agent gets that names none. */
export const ModelsView = z.strictObject({
  providers: z.array(ModelStatus),
  default: z.strictObject({
    /** Nothing when the configured one cannot be used. */
    model: z.string().nullable(),
    why: z.string(),
    passed_over: z.array(z.strictObject({ model: z.string(), why: z.string() })),
  }),
  /** Asked in this order when that one fails. */
  fallback: z.array(z.string()),
  aliases: z.record(z.string(), z.string()),
})
export type ModelsView = z.infer<typeof ModelsView>
