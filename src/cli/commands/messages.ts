import type { DataCommand } from '../command-module.ts'
import { sessionMeant } from '../current-session.ts'
import { renderMessages } from '../render/messages.ts'

export const messages: DataCommand<'messages'> = {
  run: async ({ session, failed, limit }, io) => {
    const id = sessionMeant(session, io)
    const client = await (await io.daemon()).client()
    return client.listMessages({ id, limit, ...(failed && { failed }) }, { signal: io.signal })
  },
  render: renderMessages,
}
