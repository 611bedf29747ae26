import type { CommandOutput } from '../../contract/cli/outputs.ts'
import { errorCodes } from '../../contract/errors.ts'
import type { DataCommand } from '../command-module.ts'
import { renderValidations } from '../render/session-files.ts'

export const logValidate: DataCommand<'log validate'> = {
  run: async ({ files }, io) => {
    const offline = await io.offline()
    const found: CommandOutput<'log validate'> = []
    for (const file of files) found.push(await offline.logValidate(file, io.signal))
    return found
  },
  render: renderValidations,
  exitCode: (files) => (files.every(({ valid }) => valid) ? 0 : errorCodes.failed.exit),
}
