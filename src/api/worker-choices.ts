import type { ModelsConfig } from '../contract/config/model-settings.ts'
import type { ScriptSource } from '../contract/script.ts'
import type { Worker } from '../core/ledger/budget.ts'
import {
  type ChosenWorker,
  type CliFact,
  chooseWorker,
  needsClis,
  type WorkerWish,
} from '../core/model/choose-worker.ts'
import type { Models } from '../ports/model.ts'

/** Who a piece of work is wanted from: words that people, crew files and agent files gave. */
export type Wanted = Pick<WorkerWish, 'agent' | 'override' | 'cli'>

/** Chooses who works, the same way for every surface. */
export type ChooseWorkers = (wanted: readonly Wanted[], signal: AbortSignal) => Promise<ChosenWorker[]>

type Sources = {
  readonly config: ModelsConfig
  readonly models: Pick<Models, 'list'>
  readonly clis: (signal: AbortSignal) => Promise<readonly CliFact[]>
}

/** Looks at providers once for all that is wanted, and asks the CLIs only where the choice depends on them. */
export function workerChoices({ config, models, clis }: Sources): ChooseWorkers {
  return async (wanted, signal) => {
    const statuses = await models.list(signal)
    const wishes = wanted.map((one) => ({ ...one, config, statuses }))
    const facts = wishes.some(needsClis) ? await clis(signal) : []
    return wishes.map((wish) => chooseWorker({ ...wish, clis: facts }))
  }
}

/** Why they work, each reason once; what somebody named is no news. */
export const whyOf = (chosen: readonly ChosenWorker[]): string =>
  [...new Set(chosen.flatMap(({ why, isNamed }) => (isNamed ? [] : [why])))].join('; ')

/** Who does the work of a script that does not say. One that asks no agent, or names each, needs nobody. */
export async function scriptWorker(
  choose: ChooseWorkers,
  { cli, source }: { readonly cli: string | undefined; readonly source: ScriptSource },
  signal: AbortSignal,
): Promise<Worker & { readonly cli: string; readonly why: string }> {
  const text = Object.values(source.files).join('\n')
  if (cli === undefined && (!/\bagent\s*\(/.test(text) || /\b(?:cli|model)\s*:/.test(text)))
    return { cli: 'own', why: '' }
  const [chosen] = await choose([{ cli }], signal)
  return {
    cli: chosen?.cli ?? 'own',
    model: chosen?.chosen?.models[0].id,
    why: chosen === undefined ? '' : whyOf([chosen]),
  }
}
