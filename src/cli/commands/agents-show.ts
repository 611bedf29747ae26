import { nearest } from '../../contract/config/nearest.ts'
import { AppError } from '../../contract/errors.ts'
import { agentCard } from '../agent-card.ts'
import type { DataCommand } from '../command-module.ts'
import { renderAgent } from '../render/agents.ts'

export const agentsShow: DataCommand<'agents show'> = {
  run: async ({ name }, io) => {
    const { agents } = await (await io.offline()).agentsLoad(io.signal)
    const wanted = name.toLowerCase()
    const found = agents.find((agent) => agent.name === wanted || agent.aliases.includes(wanted))
    if (found !== undefined) return { ...agentCard(found), prompt: found.prompt }
    const near = nearest(
      wanted,
      agents.flatMap((agent) => [agent.name, ...agent.aliases]),
    )
    const hint = near === undefined ? 'sm agents list names them' : `did you mean ${near}?`
    throw new AppError('not_found', `no agent is called ${name}; ${hint}`)
  },
  render: renderAgent,
}
