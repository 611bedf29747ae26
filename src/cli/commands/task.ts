import type { DataCommand } from '../command-module.ts'
import { sessionMeant } from '../current-session.ts'

export const task: DataCommand<'task'> = {
  run: async ({ text, session }, io) => {
    const id = sessionMeant(session, io)
    const client = await (await io.daemon()).client()
    return client.updateSession({ id, task: text === '' ? null : text }, { signal: io.signal })
  },
  render: ({ current_task }) => (current_task === null ? 'Task taken away' : 'Task set'),
}
