import type { DataCommand } from '../command-module.ts'
import { sessionMeant } from '../current-session.ts'
import { textInput } from '../text-input.ts'

export const complete: DataCommand<'complete'> = {
  run: async ({ message, status, session }, io) => {
    const id = sessionMeant(session, io)
    const text = await textInput(message, undefined, io)
    const client = await (await io.daemon()).client()
    return client.completeSession(
      { id, ...(text !== undefined && { message: text }), ...(status !== undefined && { status }) },
      { signal: io.signal },
    )
  },
  render: ({ parent_session_id }, _view, { status = 'completed' }) => {
    const marked = status === 'completed' ? 'complete' : `as ${status}`
    return `Session marked ${marked}.${parent_session_id === null ? '' : ' Notifying parent.'}`
  },
}
