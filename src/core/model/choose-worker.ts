import { agentClis, type CodingCliName } from '../../contract/agent-clis.ts'
import { AppError } from '../../contract/errors.ts'
import {
  type ChosenModels,
  localModels,
  type ModelWish,
  namedOrKeyedModels,
  nameOfModel,
  noModel,
  type PassedOver,
} from './choose-models.ts'

/** A coding CLI on this machine; whether it is logged in is its own word. */
export type CliFact = {
  readonly name: CodingCliName
  readonly state: 'in' | 'out' | 'unknown' | 'missing'
  readonly detail: string
}

/** Who is wanted for a piece of work, and what there is. */
export type WorkerWish = ModelWish & {
  /** A CLI that somebody named; `own` is a built-in agent. */
  readonly cli?: string | undefined
  readonly clis: readonly CliFact[]
}

/** Who does the work, and why, in one line for people. */
export type ChosenWorker =
  | (Reason & { readonly cli: 'own'; readonly chosen: ChosenModels })
  | (Reason & { readonly cli: string; readonly chosen?: undefined })

type Reason = {
  readonly why: string
  /** A person named it, so that it is no news to them. */
  readonly isNamed: boolean
}

/**
 * Chooses who works: what was named; a provider with a key; a coding CLI that is installed and logged in; a model
 * server on this machine. With none of them it refuses: a scripted answer is never given in place of a real one.
 */
export function chooseWorker(wish: WorkerWish): ChosenWorker {
  const { cli, clis } = wish
  if (cli !== undefined && cli !== 'own') return namedCli(cli, clis)
  const passedOver: PassedOver[] = []
  const keyed = namedOrKeyedModels(wish, passedOver)
  if (keyed) return ownWorker(keyed)
  const loggedIn = cli === 'own' ? undefined : clis.find(({ state }) => state === 'in')
  if (loggedIn) {
    const { title } = agentClis[loggedIn.name]
    return {
      cli: loggedIn.name,
      isNamed: false,
      why: `${title} does it: no provider has a key, and ${title} is logged in`,
    }
  }
  const local = localModels(wish, passedOver)
  if (local) return ownWorker(local)
  throw noModel(
    passedOver,
    clis.filter(({ state }) => state === 'out' || state === 'unknown'),
  )
}

/** Whether the answer can depend on which CLIs there are; asking them takes a second each. */
export function needsClis({ cli, ...wish }: Omit<WorkerWish, 'clis'>): boolean {
  if (cli !== undefined) return cli !== 'own'
  return namedOrKeyedModels(wish, []) === undefined
}

function ownWorker(chosen: ChosenModels): ChosenWorker {
  return {
    cli: 'own',
    chosen,
    isNamed: chosen.isNamed,
    why: `${nameOfModel(chosen.models[0])} answers: ${chosen.reason}`,
  }
}

/**
 * A program of the settings is not among the facts: whether it works is seen when it starts. What a CLI says of its
 * login is not all: a provider of its own settings may have a key, so that it is told and refuses nothing.
 */
function namedCli(name: string, clis: readonly CliFact[]): ChosenWorker {
  const fact = clis.find((one) => one.name === name)
  if (fact?.state === 'missing')
    throw new AppError(
      'failed',
      `${agentClis[fact.name].title} cannot work here: ${fact.detail}; sm doctor tells more`,
    )
  const title = fact ? agentClis[fact.name].title : name
  if (fact?.state === 'out')
    return {
      cli: name,
      isNamed: false,
      why: `${title} does it: it was named, though it is not logged in (${fact.detail})`,
    }
  return { cli: name, isNamed: true, why: `${title} does it: it was named` }
}
