import { codingCliNames } from '../contract/agent-clis.ts'
import type { AgentDefinition } from '../contract/agent-definition.ts'
import type { ModelsConfig } from '../contract/config/model-settings.ts'
import type { Config, LoadedConfig } from '../contract/config.ts'
import type { Crew } from '../contract/crew.ts'
import type { LoadedCrews } from '../contract/crew-definition.ts'
import { AppError } from '../contract/errors.ts'
import type { ModelStatus, ModelsView } from '../contract/model-status.ts'
import type { Api, RouteOutput } from '../contract/routes.ts'
import { findAgent, findCrew } from '../core/definitions/find-definition.ts'
import { resolveCrews } from '../core/definitions/resolve-crews.ts'
import { chooseModels, nameOfModel, type PassedOver } from '../core/model/choose-models.ts'
import type { AgentDefinitions, AgentProject, CrewDefinitions } from '../ports/definitions.ts'
import type { ProjectFiles } from '../ports/files.ts'
import type { Models } from '../ports/model.ts'
import type { ChooseWorkers } from './worker-choices.ts'

/** What stands behind the routes of agents, crews and models. */
export function definitionHandlers(deps: DefinitionDeps): DefinitionApi {
  const { config } = deps.loaded
  const agents = async (signal: AbortSignal) => (await deps.agents.load(deps.agentProject, signal)).agents
  const crews = (signal: AbortSignal) => loadCrews({ ...deps, clis: config.clis }, deps.agentProject, signal)
  return {
    listAgents: async (_input, { signal }) => ({ agents: await agents(signal) }),
    getAgent: async ({ name }, { signal }) => findAgent(await agents(signal), name),
    listAgentTypes: async (_input, { signal }) => (await agents(signal)).map(agentType),
    listCrews: async (_input, { signal }) => ({ crews: (await crews(signal)).crews }),
    getCrew: async ({ name }, { signal }) => findCrew(await crews(signal), name),
    listModels: async (_input, { signal }) => modelsView(config.models, await deps.models.list(signal)),
    async chooseWorker({ project_root, agent_id, model, cli }, { signal }) {
      const root = await deps.projects.folder(project_root)
      const agent = agent_id === undefined ? undefined : await deps.modelOf(root, agent_id, signal)
      const [found] = await deps.choose([{ agent, override: model, cli }], signal)
      if (!found) throw new AppError('internal', 'nobody was chosen')
      const [first] = found.chosen?.models ?? []
      return {
        cli: found.cli,
        model: first ? nameOfModel(first) : null,
        why: found.why,
        named: found.isNamed,
      }
    },
  }
}

export type DefinitionDeps = Omit<CrewParts, 'clis'> & {
  readonly agentProject: AgentProject | undefined
  readonly loaded: LoadedConfig
  readonly models: Models
  readonly choose: ChooseWorkers
  readonly modelOf: (root: string, agent: string, signal: AbortSignal) => Promise<string | undefined>
  readonly projects: Pick<ProjectFiles, 'folder'>
}

type DefinitionApi = Pick<
  Api,
  'listAgents' | 'getAgent' | 'listAgentTypes' | 'listCrews' | 'getCrew' | 'listModels' | 'chooseWorker'
>

/** Where crews come from, and who may fill their places. */
type CrewParts = {
  readonly crews: CrewDefinitions
  readonly agents: AgentDefinitions
  readonly clis: Config['clis']
}

/** The crews that can be run in a project, with the agents as they are now. */
export async function loadCrews(
  { crews, agents, clis }: CrewParts,
  project: AgentProject | undefined,
  signal: AbortSignal,
): Promise<LoadedCrews<Crew>> {
  const [found, known] = await Promise.all([crews.load(project, signal), agents.load(project, signal)])
  return resolveCrews(found, { agents: known.agents, clis: knownClis(clis) })
}

/** What can stand in the place of a CLI: a coding CLI, or a program of the settings. */
export const knownClis = (clis: Config['clis']): readonly string[] => [
  ...codingCliNames,
  ...Object.keys(clis),
]

/** An agent definition in the words of the runtime contract. */
function agentType(agent: AgentDefinition): RouteOutput<'listAgentTypes'>[number] {
  const { name, kind, aliases, description, model, tools, policy, workGlobs, source, file } = agent
  const targets = policy.delegateTargets
  return {
    agent_id: name,
    agent_kind: kind,
    aliases: [...aliases],
    description,
    ...(model !== undefined && { model }),
    tools: [...tools],
    policy: { allow: [...policy.allow], delegate_targets: targets === 'any' ? targets : [...targets] },
    work_globs: [...workGlobs],
    source,
    file,
  }
}

/** What people are shown of the models; a default that cannot be used is shown with its reason, not refused. */
function modelsView(config: ModelsConfig, statuses: readonly ModelStatus[]): ModelsView {
  const same = { providers: [...statuses], aliases: { ...config.aliases } }
  try {
    const { models, reason, passedOver } = chooseModels({ config, statuses })
    const [first, ...fallback] = models.map(nameOfModel)
    const usual = { model: first ?? null, why: reason, passed_over: [...passedOver] }
    return { ...same, default: usual, fallback }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { passedOver } = error.details as { passedOver: readonly PassedOver[] }
    const why =
      config.default === undefined
        ? error.message
        : 'neither models.default nor any of its fallbacks can be used'
    return { ...same, default: { model: null, why, passed_over: [...passedOver] }, fallback: [] }
  }
}
