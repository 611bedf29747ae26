import { version, wireVersion } from '../../contract/version.ts'
import type { DataCommand } from '../command-module.ts'

const versionCommand: DataCommand<'version'> = {
  run: async (_input, io) => ({
    version,
    wire: wireVersion,
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
    entry: io.program.entry,
  }),
  render: (data) =>
    `muster ${data.version} (wire ${data.wire}, node ${data.node}, ${data.platform})\n${data.entry}`,
}

/** The version, and where this program runs from. */
export const versionCommands = { version: versionCommand }
