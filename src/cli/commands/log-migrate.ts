import { basename } from 'node:path'
import type { DataCommand } from '../command-module.ts'
import { renderConversion } from '../render/session-files.ts'
import { writeDocument } from '../write-document.ts'

export const logMigrate: DataCommand<'log migrate'> = {
  run: async ({ file, out }, io) => {
    const converted = await (await io.offline()).logMigrate(file, io.signal)
    if (out === undefined) {
      for (const { path, message } of converted.repairs) io.say(`${path || '/'}: ${message}`)
      return converted
    }
    const place = { out, cwd: io.cwd, filename: basename(file) }
    return { ...converted, written: await writeDocument(converted.document, place) }
  },
  render: renderConversion,
}
