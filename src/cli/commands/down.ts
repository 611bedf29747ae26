import type { DataCommand } from '../command-module.ts'
import { renderDown } from '../render/daemon-status.ts'

export const down: DataCommand<'down'> = {
  run: async ({ sessions }, io) => (await io.daemon()).stop(sessions ? { sessions } : {}),
  render: renderDown,
}
