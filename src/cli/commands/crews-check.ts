import { errorCodes } from '../../contract/errors.ts'
import type { DataCommand } from '../command-module.ts'
import { renderCheckedDefinitions } from '../render/checked-definitions.ts'

export const crewsCheck: DataCommand<'crews check'> = {
  run: async (_input, io) => {
    const { crews, problems, shadowed } = await (await io.offline()).crewsLoad(io.signal)
    return {
      crews: crews.length,
      problems: [...problems],
      shadowed: shadowed.map(({ name, file, by }) => ({ name, file, by })),
    }
  },
  render: ({ crews, ...checked }, view) =>
    renderCheckedDefinitions({ loaded: crews, word: 'crew', ...checked }, view),
  exitCode: ({ problems }) =>
    problems.some(({ severity }) => severity === 'error') ? errorCodes.failed.exit : 0,
}
