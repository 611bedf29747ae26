import { join, resolve } from 'node:path'
import type { AgentDefinition } from '../../contract/agent-definition.ts'
import type { AgentDefinitions, AgentProject } from '../../ports/agent-definitions.ts'
import type { DefinitionFolder, KnownFiles } from '../system/read-definitions.ts'
import { loadAgents } from './load-agents.ts'
import { watchAgents } from './watch-agents.ts'

/** The folders that do not depend on a project. */
export type AgentHomes = { readonly shippedDir: string; readonly userDir: string }

/** Agent definitions from Markdown files on disk. */
export function agentFiles(homes: AgentHomes): AgentDefinitions {
  const known: KnownFiles<AgentDefinition> = new Map()
  return {
    load: (project, signal) =>
      loadAgents(
        { folders: foldersOf(homes, project), projectTrusted: project?.trusted ?? false, known },
        signal,
      ),
    watch: (project, onChange, signal) => {
      watchAgents(
        foldersOf(homes, project).map(({ dir }) => dir),
        onChange,
        signal,
      )
    },
  }
}

function foldersOf(homes: AgentHomes, project: AgentProject | undefined): DefinitionFolder[] {
  const shipped: DefinitionFolder[] = [
    { source: 'shipped', dir: homes.shippedDir },
    { source: 'user', dir: homes.userDir },
  ]
  if (project === undefined) return shipped
  const own = { source: 'project', within: project.root } as const
  const folders: DefinitionFolder[] = [
    { ...own, dir: join(project.root, '.muster', 'agents') },
    { ...own, dir: join(project.root, 'agents'), isMixed: true },
  ]
  // In Muster's own checkout the shipped agents are not the project's a second time.
  return [...shipped, ...folders.filter(({ dir }) => resolve(dir) !== resolve(homes.shippedDir))]
}
