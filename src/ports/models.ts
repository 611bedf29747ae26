import type { ModelRef, ModelStatus } from '../contract/model-status.ts'
import type { Model } from './model.ts'

/** The models that the configuration names. */
export type Models = {
  /** Every provider, and whether it can be used now; local ones are asked. */
  readonly list: (signal: AbortSignal) => Promise<readonly ModelStatus[]>
  /** Throws an AppError that says what to set when the provider has no key, or is none. */
  readonly open: (ref: ModelRef) => Promise<Model>
  readonly close: () => Promise<void>
}
