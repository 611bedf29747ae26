import { errorCodes } from '../../contract/errors.ts'
import type { DataCommand } from '../command-module.ts'
import { renderCheckedDefinitions } from '../render/checked-definitions.ts'

export const agentsCheck: DataCommand<'agents check'> = {
  run: async (_input, io) => {
    const { agents, problems, shadowed } = await (await io.offline()).agentsLoad(io.signal)
    return {
      agents: agents.length,
      problems: problems.map(({ file, line, severity, message }) => ({ file, line, severity, message })),
      shadowed: shadowed.map(({ name, file, by }) => ({ name, file, by })),
    }
  },
  render: ({ agents, ...checked }, view) =>
    renderCheckedDefinitions({ loaded: agents, word: 'agent', ...checked }, view),
  exitCode: ({ problems }) =>
    problems.some(({ severity }) => severity === 'error') ? errorCodes.failed.exit : 0,
}
