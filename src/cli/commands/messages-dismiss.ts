import type { DataCommand } from '../command-module.ts'
import { oneLine } from '../render/one-line.ts'
import { cut } from '../render/text-width.ts'

export const messagesDismiss: DataCommand<'messages dismiss'> = {
  run: async ({ message }, io) => {
    const client = await (await io.daemon()).client()
    return client.dismissMessage({ message }, { signal: io.signal })
  },
  render: ({ session_id, preview }, { width }) =>
    cut(`Taken back from session ${session_id}: ${oneLine(preview.slice(0, 400))}`, width),
}
