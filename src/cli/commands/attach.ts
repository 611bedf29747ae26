import { AppError } from '../../contract/errors.ts'
import { attachPlan } from '../attach-plan.ts'
import type { DataCommand } from '../command-module.ts'
import { shellQuote } from '../render/shell-quote.ts'
import { runHere } from '../run-here.ts'

export const attach: DataCommand<'attach'> = {
  run: async ({ session, print }, io) => {
    const client = await (await io.daemon()).client()
    const attached = await client.getAttach({ id: session }, { signal: io.signal })
    if (print || io.isJson) return attached
    const { way, argv } = attachPlan(attached.argv, attached.name, io.env)
    if (!io.isTerminal && way === 'here')
      throw new AppError('invalid', 'there is no terminal here; use sm tail or sm output, or --print')
    if (way === 'window') io.say(`${attached.name} opens in a window of its own; Ctrl-Q leaves it`)
    await runHere(argv, io.env)
    return attached
  },
  render: ({ argv }, _view, { print }) => (print ? shellQuote(argv) : ''),
}
