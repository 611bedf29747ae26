import type { LoadedAgents } from '../contract/agent-definition.ts'
import type { LoadedCrews } from '../contract/crew-definition.ts'

/** Whether a person trusts a file of a project with exactly this content; its path is from the root. */
export type FileTrust = (file: string, sha256: string) => boolean

/** The project whose own definitions count; what a file that is not trusted brings is held back where it could do harm. */
export type AgentProject = { readonly root: string; readonly trusts: FileTrust }

/** Where agent definitions come from: shipped, the user's, and those of a project. */
export type AgentDefinitions = {
  load(project: AgentProject | undefined, signal: AbortSignal): Promise<LoadedAgents>
  /** Calls back after any agent file may have changed, until the signal ends it; load again then. */
  watch(project: AgentProject | undefined, onChange: () => void, signal: AbortSignal): void
}

/** Where crews come from: shipped, the user's, and those of a project. */
export type CrewDefinitions = {
  load(project: AgentProject | undefined, signal: AbortSignal): Promise<LoadedCrews>
}
