import type { DataCommand } from '../command-module.ts'
import { sessionMeant } from '../current-session.ts'
import { plainLines } from '../render/one-line.ts'

export const output: DataCommand<'output'> = {
  run: async ({ session, lines }, io) => {
    const id = sessionMeant(session, io)
    const client = await (await io.daemon()).client()
    const shown = await client.getOutput({ id, lines: Math.max(1, lines) }, { signal: io.signal })
    if (!shown.is_alive && !io.isJson) io.say('its terminal is gone; these are the last lines that were kept')
    return shown
  },
  render: ({ lines }) => plainLines(lines.join('\n')).trimEnd(),
}
