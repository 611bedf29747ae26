import type { DataCommand } from '../command-module.ts'
import { sessionMeant } from '../current-session.ts'
import { renderChildren } from '../render/children.ts'

export const children: DataCommand<'children'> = {
  run: async ({ session, recursive, status }, io) => {
    const id = sessionMeant(session, io)
    const client = await (await io.daemon()).client()
    const filter = { id, ...(recursive && { recursive }), ...(status !== undefined && { status }) }
    const found = await client.listChildren(filter, { signal: io.signal })
    if (found.children.length === 0 && !io.isJson) io.say('No child sessions.')
    return found
  },
  render: renderChildren,
}
