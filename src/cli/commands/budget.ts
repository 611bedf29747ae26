import { AppError } from '../../contract/errors.ts'
import type { DataCommand } from '../command-module.ts'
import { parseBudget } from '../parse-budget.ts'
import { titleOf } from '../render/session-line.ts'

export const budget: DataCommand<'budget'> = {
  run: async ({ session, amounts }, io) => {
    const given = parseBudget(amounts)
    if (!given) throw new AppError('invalid', 'say how much: 200k or 1.5m tokens, or 5usd')
    const client = await (await io.daemon()).client()
    return client.updateSession({ id: session, budget: given }, { signal: io.signal })
  },
  render: (session) => {
    const { tokens, usd } = session.budget ?? {}
    const amounts = [
      ...(tokens === undefined ? [] : [`${tokens.toLocaleString('en-US')} tokens`]),
      ...(usd === undefined ? [] : [`$${usd}`]),
    ]
    return `${titleOf(session)} may use ${amounts.join(' and ')}`
  },
}
