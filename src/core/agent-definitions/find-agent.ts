import type { AgentDefinition } from '../../contract/agent-definition.ts'
import { AppError } from '../../contract/errors.ts'
import { findNamed } from '../../contract/find-named.ts'

/** Finds an agent by its name or an alias, in any case; refuses an unknown one with the known ones listed. */
export function findAgent(agents: readonly AgentDefinition[], wanted: string): AgentDefinition {
  const result = findNamed(agents, wanted)
  if (result.found) return result.found
  const known = agents.map((agent) => [agent.name, ...agent.aliases].join(' or ')).join(', ')
  const hint = result.near === undefined ? 'known' : `did you mean ${result.near}? Known`
  throw new AppError('not_found', `no agent type ${wanted}; ${hint}: ${known === '' ? 'none' : known}`)
}
