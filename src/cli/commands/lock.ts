import type { DataCommand } from '../command-module.ts'
import { sessionMeant } from '../current-session.ts'

export const lock: DataCommand<'lock'> = {
  run: async ({ text, session }, io) => {
    const id = sessionMeant(session, io)
    const client = await (await io.daemon()).client()
    return client.updateSession({ id, lock: text }, { signal: io.signal })
  },
  render: ({ working_dir }) => `Locked${working_dir === null ? '' : ` ${working_dir}`}; sm unlock opens it`,
}
