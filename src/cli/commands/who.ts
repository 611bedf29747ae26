import { errorCodes } from '../../contract/errors.ts'
import type { DataCommand } from '../command-module.ts'
import { callerSession } from '../current-session.ts'
import { othersIn } from '../list-sessions.ts'
import { isEnded } from '../render/session-line.ts'
import { renderOthers } from '../render/workspace-status.ts'

export const who: DataCommand<'who'> = {
  run: async (_input, io) => {
    const client = await (await io.daemon()).client()
    const self = await callerSession(client, io)
    const parent = self?.parent_session_id ?? undefined
    if (parent === undefined) {
      const folder = self?.working_dir ?? io.cwd
      return { sessions: await othersIn(client, { folder, besides: self }, io.signal) }
    }
    const { children } = await client.listChildren({ id: parent }, { signal: io.signal })
    return { sessions: children.filter((child) => child.id !== self?.id && !isEnded(child)) }
  },
  render: renderOthers,
  exitCode: ({ sessions }) => (sessions.length > 0 ? 0 : errorCodes.failed.exit),
}
