import { basename, dirname, join, parse } from 'node:path'
import type { DataCommand } from '../command-module.ts'
import { renderConversion } from '../render/session-files.ts'
import { writeDocument } from '../write-document.ts'

export const logRepair: DataCommand<'log repair'> = {
  run: async ({ file, out = beside(file) }, io) => {
    const repaired = await (await io.offline()).logRepair(file, io.signal)
    const place = { out, cwd: io.cwd, filename: basename(file) }
    return { ...repaired, written: await writeDocument(repaired.document, place) }
  },
  render: renderConversion,
}

// The end of a name says which format it has, so the word goes before it.
function beside(file: string): string {
  const { name } = parse(file)
  const stem = name.replace(/-multi$/, '')
  return join(dirname(file), `${stem}-repaired${name.slice(stem.length)}.json`)
}
