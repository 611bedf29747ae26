import type { AgentDefinition } from '../contract/agent-definition.ts'
import type { PayloadOf } from '../contract/event.ts'
import { chooseModels } from '../core/model/choose-models.ts'
import type { Model } from '../ports/model.ts'
import type { RuntimeParts } from './parts.ts'

/** The models of a run, and how they were chosen. */
export type OpenedModels = {
  readonly models: readonly [Model, ...Model[]]
  readonly decision: PayloadOf<'decision.made'>
}

/** Chooses the models of a run and opens them. */
export async function openChosen(
  { models, config, slots }: Pick<RuntimeParts, 'models' | 'config' | 'slots'>,
  wish: { readonly agent: AgentDefinition; readonly model?: string | undefined },
  signal: AbortSignal,
): Promise<OpenedModels> {
  const statuses = await models.list(signal)
  const chosen = chooseModels({
    agent: wish.agent.model,
    override: wish.model,
    config: config().models,
    statuses,
  })
  const [first, ...rest] = chosen.models
  const name = ({ provider, id }: { provider: string; id: string }) => `${provider}/${id}`
  return {
    models: [
      slots.guard(await models.open(first)),
      ...(await Promise.all(rest.map(async (ref) => slots.guard(await models.open(ref))))),
    ],
    decision: {
      subject: 'model',
      candidates: [
        ...chosen.models.map(name),
        ...chosen.passedOver.map(({ model, why }) => `${model} (${why})`),
      ],
      choice: name(first),
      reason: chosen.reason,
    },
  }
}
