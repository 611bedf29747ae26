import { AppError, errorCodes } from '../../contract/errors.ts'
import type { DataCommand } from '../command-module.ts'
import { callerSession } from '../current-session.ts'
import { othersIn } from '../list-sessions.ts'

export const alone: DataCommand<'alone'> = {
  run: async (_input, io) => {
    try {
      const client = await (await io.daemon()).client()
      const self = await callerSession(client, io)
      const folder = self?.working_dir ?? io.cwd
      const found = await othersIn(client, { folder, besides: self }, io.signal)
      return { alone: found.length === 0 }
    } catch (error) {
      // Who cannot be asked may not be taken for nobody, and a slow daemon knows as little as none.
      if (!(error instanceof AppError) || error.code !== 'timeout') throw error
      throw new AppError('unavailable', error.message, { cause: error })
    }
  },
  render: () => '',
  exitCode: (data) => (data.alone ? 0 : errorCodes.failed.exit),
}
