import type { DataCommand } from '../command-module.ts'
import { listSessions } from '../list-sessions.ts'
import { renderSessionTable } from '../render/session-table.ts'

export const all: DataCommand<'all'> = {
  run: async ({ closed }, io) => {
    const client = await (await io.daemon()).client()
    return { sessions: await listSessions(client, closed ? {} : { open: true }, io.signal), next: null }
  },
  render: renderSessionTable,
}
