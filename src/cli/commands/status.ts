import type { DataCommand } from '../command-module.ts'
import { callerSession } from '../current-session.ts'
import { othersIn } from '../list-sessions.ts'
import { renderStatus } from '../render/workspace-status.ts'

export const status: DataCommand<'status'> = {
  run: async (_input, io) => {
    const client = await (await io.daemon()).client()
    const session = await callerSession(client, io)
    const folder = session?.working_dir ?? io.cwd
    const [children, others] = await Promise.all([
      session === undefined
        ? []
        : client
            .listChildren({ id: session.id, recursive: true }, { signal: io.signal })
            .then((answer) => answer.children),
      othersIn(client, { folder, besides: session }, io.signal),
    ])
    const below = new Set(children.map(({ id }) => id))
    return {
      session: session ?? null,
      children,
      working_dir: folder,
      others: others.filter(({ id }) => !below.has(id)),
    }
  },
  render: renderStatus,
}
