import { errorCodes } from '../../contract/errors.ts'
import type { DataCommand } from '../command-module.ts'
import { callerSession } from '../current-session.ts'
import { othersIn } from '../list-sessions.ts'
import { renderOthers } from '../render/workspace-status.ts'

export const others: DataCommand<'others'> = {
  run: async (_input, io) => {
    const client = await (await io.daemon()).client()
    const self = await callerSession(client, io)
    const folder = self?.working_dir ?? io.cwd
    const sessions = await othersIn(client, { folder, besides: self }, io.signal)
    if (sessions.length === 0 && !io.isJson) io.say(`Nobody else works in ${folder}.`)
    return { sessions }
  },
  render: renderOthers,
  exitCode: ({ sessions }) => (sessions.length > 0 ? 0 : errorCodes.failed.exit),
}
