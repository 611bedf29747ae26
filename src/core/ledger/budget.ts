import { agentClis, codingCliNames } from '../../contract/agent-clis.ts'
import { AppError } from '../../contract/errors.ts'
import type { Budget } from '../../contract/values.ts'

/** What a subtree of sessions has used. */
export type Used = { readonly tokens: number; readonly usd: number | null }

/** One side of a budget and how far it is used. */
export type BudgetUse = {
  readonly budget: 'tokens' | 'usd'
  readonly used: number
  readonly limit: number
  readonly level: 'ok' | 'warning' | 'exceeded'
}

const warnAt = 0.8

/** The side of a budget that is used the most; nothing when there is none. */
export function budgetUse(budget: Budget | undefined, used: Used): BudgetUse | undefined {
  const sides = [
    side('tokens', used.tokens, budget?.tokens),
    // A price that nobody gave cannot use up money.
    side('usd', used.usd ?? 0, budget?.usd),
  ]
  return sides.filter((one) => one !== undefined).toSorted((a, b) => b.used / b.limit - a.used / a.limit)[0]
}

function side(budget: BudgetUse['budget'], used: number, limit: number | undefined): BudgetUse | undefined {
  if (limit === undefined) return undefined
  const share = used / limit
  return { budget, used, limit, level: share >= 1 ? 'exceeded' : share >= warnAt ? 'warning' : 'ok' }
}

/** A budget that has room again: another measure of what it was. */
export const raisedBudget = (budget: Budget, used: Used): Budget => ({
  ...(budget.tokens !== undefined && { tokens: Math.max(budget.tokens, used.tokens) + budget.tokens }),
  ...(budget.usd !== undefined && { usd: Math.max(budget.usd, used.usd ?? 0) + budget.usd }),
})

// No prices of models are known, so that all others cost nothing that could be counted.
const telling = codingCliNames.filter((name) => agentClis[name].tellsCost)
const tells: ReadonlySet<string> = new Set(telling)

/** Refuses a limit in money for those whose money nobody counts. */
export function refuseUncountedMoney(usd: number | undefined, clis: Iterable<string>): void {
  if (usd === undefined) return
  const others = [...new Set(clis)]
    .filter((cli) => !tells.has(cli))
    .map((cli) => (cli === 'own' ? 'a built-in agent' : cli))
  if (others.length > 0)
    throw new AppError(
      'invalid',
      `the cost of ${others.join(', ')} is not reported, so a limit of $${usd.toFixed(2)} would never be reached; limit the tokens instead, or have ${telling.join(' or ')} do the work`,
    )
}
