import type { DataCommand } from '../command-module.ts'
import { writeDocument } from '../write-document.ts'

export const logExport: DataCommand<'log export'> = {
  run: async ({ session, out }, io) => {
    const client = await (await io.daemon()).client()
    const exported = await client.exportLog({ id: session }, { signal: io.signal })
    if (out === undefined) return exported
    const place = { out, cwd: io.cwd, filename: exported.filename }
    return { ...exported, written: await writeDocument(exported.document, place) }
  },
  render: ({ document, written }) => written ?? JSON.stringify(document, null, 2),
}
