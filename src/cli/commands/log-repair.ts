import { basename } from 'node:path'
import type { DataCommand } from '../command-module.ts'
import { renderConversion } from '../render/session-files.ts'
import { writeDocument } from '../write-document.ts'

export const logRepair: DataCommand<'log repair'> = {
  run: async ({ file, out }, io) => {
    const repaired = await (await io.offline()).logRepair(file, io.signal)
    const place = { out, cwd: io.cwd, filename: basename(file) }
    return { ...repaired, written: await writeDocument(repaired.document, place) }
  },
  render: renderConversion,
}
