import type { DataCommand } from '../command-module.ts'
import { currentSession } from '../current-session.ts'
import { titleOf } from '../render/session-line.ts'

export const adopt: DataCommand<'adopt'> = {
  run: async ({ session, parent }, io) => {
    const under = parent ?? currentSession(io)
    const client = await (await io.daemon()).client()
    return client.adoptSession(
      { id: session, ...(under !== undefined && { parent: under }) },
      { signal: io.signal },
    )
  },
  render: (session) => {
    const under = session.parent_session_id
    return `${titleOf(session)} ${under === null ? 'stands on its own now' : `is a child of ${under} now`}`
  },
}
