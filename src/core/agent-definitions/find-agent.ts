import type { AgentDefinition } from '../../contract/agent-definition.ts'
import { nearest } from '../../contract/config/nearest.ts'
import { AppError } from '../../contract/errors.ts'

/** Finds an agent by its name or an alias, in any case; refuses an unknown one with the known ones listed. */
export function findAgent(agents: readonly AgentDefinition[], wanted: string): AgentDefinition {
  const name = wanted.toLowerCase()
  const found =
    agents.find((agent) => agent.name === name) ?? agents.find((agent) => agent.aliases.includes(name))
  if (found !== undefined) return found
  const near = nearest(
    name,
    agents.flatMap((agent) => [agent.name, ...agent.aliases]),
  )
  const known = agents.map((agent) => [agent.name, ...agent.aliases].join(' or ')).join(', ')
  const hint = near === undefined ? 'known' : `did you mean ${near}? Known`
  throw new AppError('not_found', `no agent type ${wanted}; ${hint}: ${known === '' ? 'none' : known}`)
}
