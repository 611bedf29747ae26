import { agentCard } from '../agent-card.ts'
import type { DataCommand } from '../command-module.ts'
import { renderAgentList } from '../render/agents.ts'
import { plural } from '../render/amounts.ts'

export const agentsList: DataCommand<'agents list'> = {
  run: async (_input, io) => {
    const { agents, problems } = await (await io.offline()).agentsLoad(io.signal)
    if (problems.length > 0)
      io.say(`${plural(problems.length, 'problem')} in agent files; see: sm agents check`)
    return agents.map(agentCard)
  },
  render: renderAgentList,
}
