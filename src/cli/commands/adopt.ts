import { callerEnvironment } from '../caller-environment.ts'
import type { DataCommand } from '../command-module.ts'
import { currentSession } from '../current-session.ts'
import { titleOf } from '../render/session-line.ts'

const startsInMs = 60_000

export const adopt: DataCommand<'adopt'> = {
  run: async ({ session, parent }, io) => {
    const under = parent ?? currentSession(io)
    const client = await (await io.daemon()).client()
    return client.adoptSession(
      { id: session, environment: callerEnvironment(io), ...(under !== undefined && { parent: under }) },
      { signal: io.signal, timeoutMs: startsInMs },
    )
  },
  render: (session) => {
    const under = session.parent_session_id
    const place = session.tmux_session === null ? '' : `, in tmux session ${session.tmux_session}`
    return `${titleOf(session)} ${under === null ? 'stands on its own now' : `is a child of ${under} now`}${place}`
  },
}
