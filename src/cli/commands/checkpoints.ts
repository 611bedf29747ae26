import type { DataCommand } from '../command-module.ts'
import { sessionMeant } from '../current-session.ts'
import { milestoneLines } from '../render/milestones.ts'

export const checkpoints: DataCommand<'checkpoints'> = {
  run: async ({ session }, io) => {
    const id = sessionMeant(session, io)
    const client = await (await io.daemon()).client()
    const found = await client.listCheckpoints({ id }, { signal: io.signal })
    if (found.checkpoints.length === 0 && !io.isJson) io.say('No checkpoints.')
    return found
  },
  render: (data, { now }) => milestoneLines(data.checkpoints, now).join('\n'),
}
