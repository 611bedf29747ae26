import type { DataCommand } from '../command-module.ts'
import { sessionMeant } from '../current-session.ts'

export const unlock: DataCommand<'unlock'> = {
  run: async ({ session }, io) => {
    const id = sessionMeant(session, io)
    const client = await (await io.daemon()).client()
    return client.updateSession({ id, lock: null }, { signal: io.signal })
  },
  render: ({ working_dir }) => `Unlocked${working_dir === null ? '' : ` ${working_dir}`}`,
}
