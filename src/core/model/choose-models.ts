import { type ModelsConfig, providersOf } from '../../contract/config/model-settings.ts'
import { nearest } from '../../contract/config/nearest.ts'
import { AppError } from '../../contract/errors.ts'
import type { ModelRef, ModelStatus } from '../../contract/model-status.ts'

/** Who wishes for which model, and what there is. */
export type ModelWish = {
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
export type ChosenModels = {
  readonly models: readonly [ModelRef, ...ModelRef[]]
  readonly reason: string
  /** A person named it, on the command line or in the settings. */
  readonly isNamed: boolean
  readonly passedOver: readonly PassedOver[]
}

/**
 * Chooses the model of a run: what a person named, else what the agent names, else the default, else the first that
 * can be used. What a person named is never replaced in silence; the fallbacks come after every choice.
 */
export function chooseModels(wish: ModelWish): ChosenModels {
  const passedOver: PassedOver[] = []
  const chosen = namedOrKeyedModels(wish, passedOver) ?? localModels(wish, passedOver)
  if (chosen) return chosen
  throw noModel(passedOver, [])
}

/** What somebody named, or a provider that has a key or was written down; nothing when there is neither. */
export function namedOrKeyedModels(wish: ModelWish, passedOver: PassedOver[]): ChosenModels | undefined {
  const chosen = firstNamed(wish, passedOver) ?? firstUsable(wish, passedOver, false)
  return withFallbacks(wish, passedOver, chosen)
}

/** The first model of a server that answers on this machine though nobody wrote it down. */
export function localModels(wish: ModelWish, passedOver: PassedOver[]): ChosenModels | undefined {
  return withFallbacks(wish, passedOver, firstUsable(wish, passedOver, true))
}

type Choice = Pick<ChosenModels, 'reason' | 'isNamed'> & { readonly ref: ModelRef }

function withFallbacks(
  wish: ModelWish,
  passedOver: PassedOver[],
  chosen: Choice | undefined,
): ChosenModels | undefined {
  if (!chosen) return undefined
  const others = fallbacks(wish, passedOver).filter((ref) => nameOfModel(ref) !== nameOfModel(chosen.ref))
  const { ref, reason, isNamed } = chosen
  return { models: [ref, ...others], reason, isNamed, passedOver }
}

function firstNamed(wish: ModelWish, passedOver: PassedOver[]): Choice | undefined {
  const { override, agent, config } = wish
  const taken = (word: string | undefined, reason: string): Choice | undefined => {
    const ref = word === undefined ? undefined : usable(wish, word, passedOver)
    return ref && { ref, reason, isNamed: true }
  }
  if (isWord(override)) {
    const named = taken(override, 'it was named for this run')
    if (named) return named
    throw cannotBeUsed(passedOver)
  }
  const wished =
    (isWord(agent) ? byAgentFile(wish, agent, passedOver) : undefined) ??
    taken(config.default, 'it is models.default')
  if (wished) return wished
  const [next] = fallbacks(wish, passedOver)
  if (next)
    return { ref: next, reason: 'it is the first of models.fallback that can be used', isNamed: false }
  // A default is a name that a person wrote: another model in its place might cost what nobody agreed to.
  if (config.default !== undefined) throw cannotBeUsed(passedOver)
  return undefined
}

/** What an agent file names, and where its key is from: the file may be one that came with Muster. */
function byAgentFile(wish: ModelWish, agent: string, passedOver: PassedOver[]): Choice | undefined {
  const ref = usable(wish, agent, passedOver)
  const why = wish.statuses.find(({ provider }) => provider === ref?.provider)?.why.replace(/^ready: /, '')
  return ref && { ref, reason: `its agent file names it (${why})`, isNamed: false }
}

const isWord = (word: string | undefined): word is string =>
  word !== undefined && word !== '' && word !== 'inherit'

function fallbacks(wish: ModelWish, passedOver: PassedOver[]): ModelRef[] {
  const refs = wish.config.fallback.map((word) => usable(wish, word, passedOver))
  return refs.filter((ref) => ref !== undefined)
}

function usable(wish: ModelWish, word: string, passedOver: PassedOver[]): ModelRef | undefined {
  const meant: MeantModel = readModelWord(word, wish)
  const absent = meant.ref && meant.status.usable ? absentModel(meant, wish) : undefined
  if (meant.ref && meant.status.usable && absent === undefined) return meant.ref
  const passed = meant.ref
    ? { model: nameOfModel(meant.ref), why: absent ?? meant.status.why }
    : { model: word, why: meant.why }
  if (!passedOver.some(({ model }) => model === passed.model)) passedOver.push(passed)
  return undefined
}

const mostListed = 500

/** Why a model is not there, where its server has told all that it has; nothing when it is, or nobody can know. */
function absentModel(
  { ref, status }: Extract<MeantModel, { readonly status: ModelStatus }>,
  { config }: ModelWish,
): string | undefined {
  const { protocol, models, provider } = status
  const isTold = protocol === 'compatible' && config.providers[provider]?.models === undefined
  if (!isTold || models.length === 0 || models.length >= mostListed) return undefined
  if (models.includes(ref.id) || models.includes(`${ref.id}:latest`)) return undefined
  const near = nearest(ref.id, models)
  return `${provider} has no such model; ${near === undefined ? `it has ${models.slice(0, 5).join(', ')}` : `did you mean ${near}?`}`
}

/** Models that answer no questions; a local server lists them among the others. */
const notForWords = /embed|rerank|whisper|\bbge\b/i

function firstUsable(
  { config, statuses }: ModelWish,
  passedOver: PassedOver[],
  isGuessed: boolean,
): Choice | undefined {
  const asked = new Set(providersOf(config).flatMap((one) => (one.isGuessed === isGuessed ? [one.name] : [])))
  for (const { provider, models, usable: isUsable, why } of statuses) {
    if (provider === 'scripted' || !asked.has(provider)) continue
    const id = models.find((one) => !notForWords.test(one))
    if (isUsable && id !== undefined)
      return {
        ref: { provider, id },
        reason: isGuessed ? 'a model server on this machine' : why.replace(/^ready: /, ''),
        isNamed: false,
      }
    if (!passedOver.some(({ model }) => model.startsWith(`${provider}/`)))
      passedOver.push({ model: provider, why: isUsable ? 'none of its models is known; name one' : why })
  }
  return undefined
}

/** Nothing can answer: said at once, with the shortest ways to get something that can. */
export function noModel(
  passedOver: readonly PassedOver[],
  clis: readonly { readonly name: string; readonly state: string }[],
): AppError {
  return new AppError(
    'failed',
    'there is no model here: no provider has a key, no coding CLI is logged in, and no model server answers on this machine',
    {
      details: {
        passedOver,
        ways: [...waysToAModel(clis), 'sm demo  shows a crew at work meanwhile; no model is called'],
      },
    },
  )
}

/** The shortest ways to something that answers, one line each. */
export function waysToAModel(
  clis: readonly { readonly name: string; readonly state: string }[],
): readonly string[] {
  const [cli] = clis
  const program =
    cli === undefined
      ? 'npm install -g @anthropic-ai/claude-code && claude  installs Claude Code; log in with your plan'
      : cli.state === 'out'
        ? `${cli.name}  is installed; start it once and log in`
        : `--cli ${cli.name}  uses ${cli.name}, which is installed but does not say whether it is logged in`
  return [
    'export ANTHROPIC_API_KEY=… && sm up --replace  or OPENAI_API_KEY, or GEMINI_API_KEY',
    program,
    'ollama pull qwen3 && ollama serve  runs a model on this machine; LM Studio and llama.cpp work too',
  ]
}

function cannotBeUsed(passedOver: readonly PassedOver[]): AppError {
  const all = passedOver.map(({ model, why }) => `${model}: ${why}`).join('; ')
  return new AppError('failed', `${all}. sm models shows which can be used`, { details: { passedOver } })
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
