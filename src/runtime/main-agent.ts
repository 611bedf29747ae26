import type { AgentDefinition } from '../contract/agent-definition.ts'
import { AppError } from '../contract/errors.ts'
import { findAgent } from '../core/definitions/find-definition.ts'
import type { RuntimeParts } from './runtime-parts.ts'

/** The main agent of this name; people speak with no other kind. */
export async function mainAgent(
  parts: Pick<RuntimeParts, 'agents'>,
  name: string,
  workspace: string,
): Promise<AgentDefinition> {
  const agents = await parts.agents(workspace, new AbortController().signal)
  const agent = findAgent(agents, name)
  if (agent.kind !== 'main')
    throw new AppError(
      'invalid',
      `${agent.name} is a subagent: other agents give it work, and sm spawn ${agent.name} starts a session with it; talk to one of: ${agents
        .filter(({ kind }) => kind === 'main')
        .map((one) => one.name)
        .join(', ')}`,
    )
  return agent
}
