import type { ModelsConfig } from '../contract/config/models.ts'
import { AppError } from '../contract/errors.ts'
import type { ModelStatus, ModelsView } from '../contract/model-status.ts'
import { chooseModels, nameOfModel, type PassedOver } from '../core/model/choose-models.ts'

/** What people are shown of the models; a default that cannot be used is shown with its reason, not refused. */
export function modelsView(config: ModelsConfig, statuses: readonly ModelStatus[]): ModelsView {
  const same = { providers: [...statuses], aliases: { ...config.aliases } }
  try {
    const { models, reason, passedOver } = chooseModels({ config, statuses })
    const [first, ...fallback] = models.map(nameOfModel)
    const usual = { model: first ?? null, why: reason, passed_over: [...passedOver] }
    return { ...same, default: usual, fallback }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { passedOver } = error.details as { passedOver: readonly PassedOver[] }
    const why = 'neither models.default nor a fallback of it can be used'
    return { ...same, default: { model: null, why, passed_over: [...passedOver] }, fallback: [] }
  }
}
