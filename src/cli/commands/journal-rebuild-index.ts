import type { DataCommand } from '../command-module.ts'
import { count } from '../render/amounts.ts'

const tenMinutesMs = 600_000

export const journalRebuildIndex: DataCommand<'journal rebuild-index'> = {
  run: async (_input, io) => {
    const client = await (await io.daemon()).client()
    io.progress('building the index…')
    return client.rebuildIndex({}, { signal: io.signal, timeoutMs: tenMinutesMs })
  },
  render: ({ seq }) => `The index is built again, up to event ${count(seq)}.`,
}
