import { codingCliNames } from '../contract/agent-clis.ts'
import type { Config } from '../contract/config.ts'
import type { Crew } from '../contract/crew.ts'
import type { LoadedCrews } from '../contract/crew-definition.ts'
import { resolveCrews } from '../core/definitions/resolve-crews.ts'
import type { AgentDefinitions, AgentProject } from '../ports/agent-definitions.ts'
import type { CrewDefinitions } from '../ports/crew-definitions.ts'

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
