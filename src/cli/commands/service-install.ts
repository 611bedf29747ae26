import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { DataCommand } from '../command-module.ts'
import { serviceUnit, unitName } from '../service-unit.ts'
import { systemctl } from '../systemctl.ts'
import { unitPath } from '../unit-path.ts'

export const serviceInstall: DataCommand<'service install'> = {
  async run(_input, io) {
    const connection = await io.daemon()
    const unit = unitPath(io.env)
    // Asked first: a unit that nothing can start must not be left behind.
    await systemctl(io, 'show-environment')
    await mkdir(dirname(unit), { recursive: true })
    await writeFile(unit, serviceUnit(io.program, connection.home))
    await systemctl(io, 'daemon-reload')
    // The one that runs holds the lock; the service's own takes its place.
    await connection.stop()
    await systemctl(io, 'enable', '--now', unitName)
    return { unit }
  },
  render: ({ unit }) =>
    `Installed ${unit}. Muster starts at login; for a machine without logins: loginctl enable-linger`,
}
