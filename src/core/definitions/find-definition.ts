import type { AgentDefinition } from '../../contract/agent-definition.ts'
import type { Crew } from '../../contract/crew.ts'
import type { LoadedCrews } from '../../contract/crew-definition.ts'
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

/** Finds a crew by its name or an alias, in any case; refuses an unknown one with the known ones listed. */
export function findCrew({ crews, problems }: LoadedCrews<Crew>, wanted: string): Crew {
  const result = findNamed(crews, wanted)
  if (result.found) return result.found
  const known = crews.map((crew) => [crew.name, ...crew.aliases].join(' or ')).join(', ')
  const hint = result.near === undefined ? 'known' : `did you mean ${result.near}? Known`
  const isSkipped = problems.some(({ severity }) => severity === 'error')
  const skipped = isSkipped ? '. A crew file was skipped; see: sm crews check' : ''
  throw new AppError('not_found', `no crew ${wanted}; ${hint}: ${known === '' ? 'none' : known}${skipped}`)
}
