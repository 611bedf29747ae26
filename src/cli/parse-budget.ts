import { AppError } from '../contract/errors.ts'
import type { Budget } from '../contract/values.ts'

const factors: Readonly<Record<string, number>> = { '': 1, k: 1000, m: 1_000_000 }

/** Reads what a session may use up: `200k` and `1.5m` are tokens, `5usd` is money. */
export function parseBudget(amounts: readonly string[]): Budget | undefined {
  if (amounts.length === 0) return undefined
  const budget: Budget = {}
  for (const amount of amounts) {
    const money = /^(?:\$(\d+(?:\.\d+)?)|(\d+(?:\.\d+)?)usd)$/i.exec(amount)
    const tokens = /^(\d+(?:\.\d+)?)([km]?)$/i.exec(amount)
    if (money) budget.usd = positive(Number(money[1] ?? money[2]), amount)
    else if (tokens) {
      const factor = factors[tokens[2]?.toLowerCase() ?? ''] ?? 1
      budget.tokens = positive(Math.round(Number(tokens[1]) * factor), amount)
    } else throw notABudget(amount)
  }
  return budget
}

function positive(value: number, amount: string): number {
  if (value > 0 && Number.isFinite(value)) return value
  throw notABudget(amount)
}

const notABudget = (amount: string): AppError =>
  new AppError('invalid', `'${amount}' is no budget; write tokens like 200k or 1.5m, or money like 5usd`)
