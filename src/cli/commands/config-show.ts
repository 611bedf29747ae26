import { flattenConfig } from '../../contract/config/flatten-config.ts'
import type { DataCommand } from '../command-module.ts'
import { renderConfig, renderConfigOrigins } from '../render/config.ts'

export const configShow: DataCommand<'config show'> = {
  run: async (_input, io) => {
    const offline = await io.offline()
    const { config, origins, warnings, files } = await offline.configShow(io.signal)
    for (const warning of warnings) io.say(`warning: ${warning}`)
    return {
      files: [...files],
      values: flattenConfig(config).map(({ key, value }) => ({
        key,
        value,
        origin: origins[key] ?? 'default',
      })),
      warnings: [...warnings],
    }
  },
  render: (data, view, { origin }) => (origin ? renderConfigOrigins(data, view) : renderConfig(data, view)),
}
