import type { DataCommand } from '../command-module.ts'
import { renderProcesses } from '../render/processes.ts'

export const ps: DataCommand<'ps'> = {
  run: async (_input, io) => {
    const client = await (await io.daemon()).client()
    return client.listProcesses({}, { signal: io.signal })
  },
  render: renderProcesses,
}
