import type { AgentDefinition } from '../../contract/agent-definition.ts'
import { GivenName } from '../../contract/config/names.ts'
import { AppError } from '../../contract/errors.ts'

/** Refuses a name that a new agent cannot have: a bad one, or one that means an agent already. */
export function refuseName(name: string, agents: readonly AgentDefinition[]): void {
  const parsed = GivenName.safeParse(name)
  if (!parsed.success) throw new AppError('invalid', `${name}: ${parsed.error.issues[0]?.message}`)
  // A folder of agents may have a page about itself, which no loader takes for an agent.
  if (name === 'readme')
    throw new AppError('invalid', 'an agent cannot be called readme; choose another name')
  const taken = agents.find((agent) => agent.name === name || agent.aliases.includes(name))
  if (!taken) return
  const cure =
    taken.source === 'shipped'
      ? 'choose another name, and copy it with --from'
      : 'edit that file, or choose another name'
  throw new AppError('conflict', `${name} is an agent already: ${taken.file}; ${cure}`)
}
