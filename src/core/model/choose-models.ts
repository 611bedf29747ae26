import { type ModelsConfig, providersOf } from '../../contract/config/model-settings.ts'
import { AppError } from '../../contract/errors.ts'
import type { ModelRef, ModelStatus } from '../../contract/model-status.ts'

/** Who wishes for which model, and what there is. */
type ModelWish = {
  /** The word in the agent file; nothing means that the agent takes the usual one. */
  readonly agent?: string | undefined
  /** What a person named for this run. */
  readonly override?: string | undefined
  readonly config: ModelsConfig
  readonly statuses: readonly ModelStatus[]
}

/** A model that was not taken, and why. */
export type PassedOver = { readonly model: string; readonly why: string }

/** The models to ask, the best first, and the reason of that choice. */
type ChosenModels = {
  readonly models: readonly [ModelRef, ...ModelRef[]]
  readonly reason: string
  readonly passedOver: readonly PassedOver[]
}

/**
 * Chooses the model of a run: what a person named, else what the agent names, else the default, else the first
 * that can be used. What a person named is never replaced in silence; the fallbacks come after every choice.
 */
export function chooseModels(wish: ModelWish): ChosenModels {
  const passedOver: PassedOver[] = []
  const chosen = firstChoice(wish, passedOver)
  const fallback = chosen.isScripted ? [] : fallbacks(wish, passedOver)
  const others = fallback.filter((ref) => nameOfModel(ref) !== nameOfModel(chosen.ref))
  return { models: [chosen.ref, ...others], reason: chosen.reason, passedOver }
}

type Choice = { readonly ref: ModelRef; readonly reason: string; readonly isScripted?: true }

function firstChoice(wish: ModelWish, passedOver: PassedOver[]): Choice {
  const { override, agent, config } = wish
  const taken = (word: string | undefined, reason: string): Choice | undefined => {
    const ref = word === undefined ? undefined : usable(wish, word, passedOver)
    return ref && { ref, reason }
  }
  if (isWord(override)) {
    const named = taken(override, 'it was chosen for this run')
    if (named) return named
    throw cannotBeUsed(passedOver)
  }
  const wished =
    (isWord(agent) ? taken(agent, 'the agent file names it') : undefined) ??
    taken(config.default, 'it is models.default')
  if (wished) return wished
  const [next] = fallbacks(wish, passedOver)
  if (next) return { ref: next, reason: 'it is the first of models.fallback that can be used' }
  // A default is a name that a person wrote: another model in its place might cost what nobody agreed to.
  if (config.default !== undefined) throw cannotBeUsed(passedOver)
  return anyUsable(wish, passedOver)
}

const isWord = (word: string | undefined): word is string =>
  word !== undefined && word !== '' && word !== 'inherit'

function fallbacks(wish: ModelWish, passedOver: PassedOver[]): ModelRef[] {
  const refs = wish.config.fallback.map((word) => usable(wish, word, passedOver))
  return refs.filter((ref) => ref !== undefined)
}

function usable(wish: ModelWish, word: string, passedOver: PassedOver[]): ModelRef | undefined {
  const meant: MeantModel = readModelWord(word, wish)
  if (meant.ref && meant.status.usable) return meant.ref
  const passed = meant.ref
    ? { model: nameOfModel(meant.ref), why: meant.status.why }
    : { model: word, why: meant.why }
  if (!passedOver.some(({ model }) => model === passed.model)) passedOver.push(passed)
  return undefined
}

function anyUsable({ statuses }: ModelWish, passedOver: PassedOver[]): Choice {
  for (const { provider, models, usable: isUsable, why } of statuses) {
    const [id] = models
    if (provider === 'scripted') continue
    if (isUsable && id !== undefined)
      return { ref: { provider, id }, reason: `${provider} is the first provider that can be used` }
    if (!passedOver.some(({ model }) => model.startsWith(`${provider}/`)))
      passedOver.push({ model: provider, why: isUsable ? 'none of its models is known; name one' : why })
  }
  const reason = 'no provider can be used, so the scripted model answers, and no model is called'
  return { ref: { provider: 'scripted', id: 'scripted' }, reason, isScripted: true }
}

function cannotBeUsed(passedOver: readonly PassedOver[]): AppError {
  const all = passedOver.map(({ model, why }) => `${model}: ${why}`).join('; ')
  return new AppError('unavailable', `${all}. sm models shows which can be used`, { details: { passedOver } })
}

/** The model that a word means with what is known of its provider, or why it means none. */
type MeantModel =
  | { readonly ref: ModelRef; readonly status: ModelStatus }
  | { readonly ref?: undefined; readonly why: string }

/** Finds out which model a word means: a short name, provider/model, or the bare id of a known model. */
function readModelWord(
  word: string,
  { config, statuses }: { config: ModelsConfig; statuses: readonly ModelStatus[] },
): MeantModel {
  const alias = Object.entries(config.aliases).find(([name]) => name.toLowerCase() === word.toLowerCase())
  const ref = refOf(alias?.[1] ?? word, { config, statuses })
  if (!ref) {
    const short = Object.keys(config.aliases).join(', ')
    return { why: `there is no such model; write provider/model, or one of ${short}` }
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
