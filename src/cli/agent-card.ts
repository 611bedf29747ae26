import type { AgentDefinition } from '../contract/agent-definition.ts'
import type { CommandOutput } from '../contract/cli/outputs.ts'

/** What is shown of an agent definition. */
export function agentCard(agent: AgentDefinition): CommandOutput<'agents list'>[number] {
  const { name, description, kind, source, file, model, policy } = agent
  return {
    name,
    aliases: [...agent.aliases],
    description,
    kind,
    source,
    file,
    ...(model === undefined ? {} : { model }),
    tools: [...agent.tools],
    policy: {
      allow: [...policy.allow],
      delegateTargets: policy.delegateTargets === 'any' ? 'any' : [...policy.delegateTargets],
    },
  }
}
