import type { DataCommand } from '../command-module.ts'
import { renderDown } from '../render/daemon-status.ts'

export const down: DataCommand<'down'> = {
  run: async (_input, io) => ({
    stopped: await (await io.daemon()).stop(),
  }),
  render: renderDown,
}
