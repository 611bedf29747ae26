import type { DataCommand } from '../command-module.ts'
import { sessionMeant } from '../current-session.ts'
import { shownName } from '../render/session-line.ts'

export const name: DataCommand<'name'> = {
  run: async ({ 'name-or-session': first, name: second }, io) => {
    const id = second === undefined ? sessionMeant(undefined, io) : first
    const client = await (await io.daemon()).client()
    return client.updateSession({ id, name: second ?? first }, { signal: io.signal })
  },
  render: (session) => `Session ${session.session_id} is called ${shownName(session)} now`,
}
