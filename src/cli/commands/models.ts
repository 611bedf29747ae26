import type { DataCommand } from '../command-module.ts'
import { renderModels } from '../render/models.ts'

export const models: DataCommand<'models'> = {
  run: async (_input, io) => (await (await io.daemon()).client()).listModels({}, { signal: io.signal }),
  render: renderModels,
}
