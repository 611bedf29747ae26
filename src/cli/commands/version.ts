import manifest from '../../../package.json' with { type: 'json' }
import { wireVersions } from '../../contract/health.ts'
import type { DataCommand } from '../command-module.ts'

export const version: DataCommand<'version'> = {
  run: async (_input, io) => ({
    version: manifest.version,
    wire: wireVersions.current,
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
    entry: io.program.entry,
  }),
  render: ({ version: number, wire, node, platform, entry }) =>
    `muster ${number} (wire ${wire}, node ${node}, ${platform})\n${entry}`,
}
