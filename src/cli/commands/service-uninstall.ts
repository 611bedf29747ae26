import { rm } from 'node:fs/promises'
import type { DataCommand } from '../command-module.ts'
import { unitName } from '../service-unit.ts'
import { systemctl } from '../systemctl.ts'
import { unitPath } from '../unit-path.ts'

export const serviceUninstall: DataCommand<'service uninstall'> = {
  async run(_input, io) {
    const unit = unitPath(io.env)
    await systemctl(io, 'disable', '--now', unitName)
    await rm(unit, { force: true })
    await systemctl(io, 'daemon-reload')
    return { unit }
  },
  render: ({ unit }) => `Removed ${unit}. Sessions go on; start the daemon again with: sm up`,
}
