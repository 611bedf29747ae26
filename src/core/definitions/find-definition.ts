import type { AgentDefinition } from '../../contract/agent-definition.ts'
import type { Crew } from '../../contract/crew.ts'
import type { LoadedCrews } from '../../contract/crew-definition.ts'
import { AppError } from '../../contract/errors.ts'
import { findNamed, type Named } from '../../contract/find-named.ts'

/** Finds an agent by its name or an alias, in any case; refuses an unknown one with the known ones listed. */
export function findAgent(agents: readonly AgentDefinition[], wanted: string): AgentDefinition {
  const result = findNamed(agents, wanted)
  if (result.found) return result.found
  throw new AppError('not_found', `no agent type ${wanted}; ${knownNames(agents, result.near)}`)
}

/** Finds a crew by its name or an alias, in any case; refuses an unknown one with the known ones listed. */
export function findCrew({ crews, problems }: LoadedCrews<Crew>, wanted: string): Crew {
  const result = findNamed(crews, wanted)
  if (result.found) return result.found
  const isSkipped = problems.some(({ severity }) => severity === 'error')
  const skipped = isSkipped ? '. A crew file was skipped; see: sm crews check' : ''
  throw new AppError('not_found', `no crew ${wanted}; ${knownNames(crews, result.near)}${skipped}`)
}

function knownNames(all: readonly Named[], near: string | undefined): string {
  const known = all.map(({ name, aliases }) => [name, ...aliases].join(' or ')).join(', ')
  return `${near === undefined ? 'known' : `did you mean ${near}? Known`}: ${known === '' ? 'none' : known}`
}
