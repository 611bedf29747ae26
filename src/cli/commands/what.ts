import { AppError } from '../../contract/errors.ts'
import type { DataCommand } from '../command-module.ts'
import { oneLine, plainLines } from '../render/one-line.ts'
import { summarize } from '../talk/summarize.ts'

export const what: DataCommand<'what'> = {
  run: async ({ session, model }, io) => {
    if (model === '') throw new AppError('invalid', '--model is empty; sm models lists what can be used')
    const client = await (await io.daemon()).client()
    const known = await client.getSummary({ id: session }, { signal: io.signal })
    return model === undefined ? known : summarize(client, { known, model }, io)
  },
  render: ({ name, session_id, summary, made_by }) =>
    `${oneLine(name)} (${session_id}): ${plainLines(summary).trim()}\n(made by ${oneLine(made_by)})`,
}
