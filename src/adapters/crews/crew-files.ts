import { join } from 'node:path'
import type { CrewDefinition, LoadedCrews } from '../../contract/crew-definition.ts'
import type { AgentProject, CrewDefinitions } from '../../ports/definitions.ts'
import {
  type DefinitionFolder,
  type DefinitionFormat,
  layerDefinitions,
  readDefinitions,
} from '../system/definition-files.ts'
import { parseCrew } from './parse-crew.ts'

/** The folders that do not depend on a project. */
export type CrewHomes = { readonly shippedDir: string; readonly userDir: string }

/** Crews from YAML files on disk. */
export function crewFiles(homes: CrewHomes): CrewDefinitions {
  const format: DefinitionFormat<CrewDefinition> = {
    fileName: /\.ya?ml$/i,
    known: new Map(),
    parse: parseCrew,
  }
  return {
    load: async (project, signal): Promise<LoadedCrews> => {
      const read = await readDefinitions(foldersOf(homes, project), format, signal)
      const { inForce, problems, ...rest } = layerDefinitions({ word: 'crew', found: read, harmless })
      return { crews: inForce, problems: [...read.flatMap((file) => file.problems), ...problems], ...rest }
    },
  }
}

function foldersOf(homes: CrewHomes, project: AgentProject | undefined): DefinitionFolder[] {
  const folders: DefinitionFolder[] = [
    { source: 'shipped', dir: homes.shippedDir },
    { source: 'user', dir: homes.userDir },
  ]
  if (project === undefined) return folders
  const dir = join(project.root, '.muster', 'crews')
  return [...folders, { source: 'project', dir, project }]
}

// A cloned repository must not run its commands, nor wave its own work through.
function harmless(crew: CrewDefinition) {
  const { test, typeCheck, custom } = crew.checks
  const commands = [test, typeCheck, ...custom.map(({ command }) => command)].filter(
    (command) => command !== undefined,
  )
  const isForced = crew.onMaxIterations === 'force_approve'
  return {
    definition: {
      ...crew,
      checks: { custom: [] },
      onMaxIterations: isForced ? ('human_review' as const) : crew.onMaxIterations,
    },
    held: [
      ...(commands.length > 0
        ? [{ field: 'checks', says: commands.map((command) => `runs the check ${JSON.stringify(command)}`) }]
        : []),
      ...(isForced
        ? [{ field: 'on_max_iterations', says: ['accepts work that no review has approved'] }]
        : []),
    ],
  }
}
