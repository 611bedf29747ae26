import type { ModelsConfig } from '../../contract/config/models.ts'
import { providersOf } from '../../contract/config/providers.ts'
import type { ModelRef, ModelStatus } from '../../contract/model-status.ts'

/** The model that a word means with what is known of its provider, or why it means none. */
export type MeantModel =
  | { readonly ref: ModelRef; readonly status: ModelStatus }
  | { readonly ref?: undefined; readonly why: string }

/** Finds out which model a word means: a short name, provider/model, or the bare id of a known model. */
export function readModelWord(
  word: string,
  { config, statuses }: { config: ModelsConfig; statuses: readonly ModelStatus[] },
): MeantModel {
  const alias = Object.entries(config.aliases).find(([name]) => name.toLowerCase() === word.toLowerCase())
  const ref = refOf(alias?.[1] ?? word, { config, statuses })
  if (!ref) {
    const short = Object.keys(config.aliases).join(', ')
    return { why: `no model is called so; write provider/model, or one of ${short}` }
  }
  const status = statuses.find(({ provider }) => provider === ref.provider)
  if (status) return { ref, status }
  const known = statuses.map(({ provider }) => provider).join(', ')
  return { why: `no provider ${ref.provider}; add it to models.providers, or use one of ${known}` }
}

export const nameOfModel = ({ provider, id }: ModelRef): string => `${provider}/${id}`

function refOf(
  name: string,
  { config, statuses }: { config: ModelsConfig; statuses: readonly ModelStatus[] },
): ModelRef | undefined {
  const [provider = '', ...rest] = name.split('/')
  const prefixed = rest.length > 0 ? { provider, id: rest.join('/') } : undefined
  if (prefixed && statuses.some((status) => status.provider === provider)) return prefixed
  // Ids of some providers have slashes of their own.
  const holders = statuses.filter(({ models }) => models.includes(name))
  const holder = holders.find(({ usable }) => usable) ?? holders[0]
  if (holder) return { provider: holder.provider, id: name }
  const family = providersOf(config).find((one) => one.family?.test(name))
  return family ? { provider: family.name, id: name } : prefixed
}
