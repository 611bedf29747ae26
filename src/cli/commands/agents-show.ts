import { AppError } from '../../contract/errors.ts'
import { findNamed } from '../../contract/find-named.ts'
import { agentCard } from '../agent-card.ts'
import type { DataCommand } from '../command-module.ts'
import { renderAgent } from '../render/agents.ts'

export const agentsShow: DataCommand<'agents show'> = {
  run: async ({ name }, io) => {
    const { agents } = await (await io.offline()).agentsLoad(io.signal)
    const result = findNamed(agents, name)
    if (result.found) return { ...agentCard(result.found), prompt: result.found.prompt }
    const hint = result.near === undefined ? 'sm agents list names them' : `did you mean ${result.near}?`
    throw new AppError('not_found', `no agent is called ${name}; ${hint}`)
  },
  render: renderAgent,
}
