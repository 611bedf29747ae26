import { openModels } from '../../adapters/models/open-models.ts'
import { systemClock } from '../../adapters/system/clock.ts'
import { type ChooseWorkers, workerChoices } from '../../api/worker-choices.ts'
import type { Config } from '../../contract/config.ts'
import { agentCliAdapters } from '../agent-cli-adapters.ts'
import { cliFacts } from '../cli-facts.ts'

/** Who would answer if a daemon were started from here: with these settings and this environment. */
export function offlineChoices(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
): AsyncDisposable & { readonly choose: ChooseWorkers } {
  const models = openModels({ config: config.models, env, clock: systemClock })
  const clis = agentCliAdapters(env)
  return {
    choose: workerChoices({
      config: config.models,
      models,
      clis: (signal) => cliFacts({ clis, config, env }, signal),
    }),
    [Symbol.asyncDispose]: () => models.close(),
  }
}
