import { version as musterVersion } from '../../contract/version.ts'
import { wireVersion } from '../../contract/wire.ts'
import type { DataCommand } from '../command-module.ts'

export const version: DataCommand<'version'> = {
  run: async (_input, io) => ({
    version: musterVersion,
    wire: wireVersion,
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
    entry: io.program.entry,
  }),
  render: (data) =>
    `muster ${data.version} (wire ${data.wire}, node ${data.node}, ${data.platform})\n${data.entry}`,
}
