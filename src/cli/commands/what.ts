import type { DataCommand } from '../command-module.ts'
import { oneLine, plainLines } from '../render/one-line.ts'

export const what: DataCommand<'what'> = {
  run: async ({ session }, io) => {
    const client = await (await io.daemon()).client()
    return client.getSummary({ id: session }, { signal: io.signal, timeoutMs: 65_000 })
  },
  render: ({ name, session_id, summary, made_by }) =>
    `${oneLine(name)} (${session_id}): ${plainLines(summary).trim()}\n(made by ${oneLine(made_by)})`,
}
