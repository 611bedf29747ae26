import type { DataCommand } from '../command-module.ts'
import { titleOf } from '../render/session-line.ts'

export const interrupt: DataCommand<'interrupt'> = {
  run: async function* ({ sessions }, io) {
    const client = await (await io.daemon()).client()
    for (const id of sessions) yield await client.interruptSession({ id }, { signal: io.signal })
  },
  render: (session) => `Interrupted ${titleOf(session)}`,
}
