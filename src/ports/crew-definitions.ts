import type { LoadedCrews } from '../contract/crew-definition.ts'
import type { AgentProject } from './agent-definitions.ts'

/** Where crews come from: shipped, the user's, and those of a project. */
export type CrewDefinitions = {
  load(project: AgentProject | undefined, signal: AbortSignal): Promise<LoadedCrews>
}
