import type { DataCommand } from '../command-module.ts'
import { renderStats } from '../render/journal.ts'

export const journalStats: DataCommand<'journal stats'> = {
  // Open sessions and producers are known to a running daemon at once; without one the files tell.
  run: async (_input, io) => {
    const client = await (await io.daemon()).running()
    return client === undefined
      ? (await io.offline()).journalStats(io.signal)
      : client.journalStats({}, { signal: io.signal })
  },
  render: renderStats,
}
