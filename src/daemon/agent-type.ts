import type { AgentDefinition } from '../contract/agent-definition.ts'
import type { RouteOutput } from '../contract/routes.ts'

/** An agent definition in the words of the runtime contract. */
export function agentType(agent: AgentDefinition): RouteOutput<'listAgentTypes'>[number] {
  const { name, kind, aliases, description, model, tools, policy, workGlobs, source, file } = agent
  const targets = policy.delegateTargets
  return {
    agent_id: name,
    agent_kind: kind,
    aliases: [...aliases],
    description,
    ...(model !== undefined && { model }),
    tools: [...tools],
    policy: { allow: [...policy.allow], delegate_targets: targets === 'any' ? targets : [...targets] },
    work_globs: [...workGlobs],
    source,
    file,
  }
}
