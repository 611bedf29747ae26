import type { DataCommand } from '../command-module.ts'
import { sessionMeant } from '../current-session.ts'
import { renderBlackboard } from '../render/blackboard.ts'

export const blackboard: DataCommand<'blackboard'> = {
  run: async ({ session }, io) => {
    const id = sessionMeant(session, io)
    const client = await (await io.daemon()).client()
    return client.getBlackboard({ id }, { signal: io.signal })
  },
  render: renderBlackboard,
}
