import { agentClis, codingCliNames, isCodingCli } from '../../contract/agent-clis.ts'
import { AppError } from '../../contract/errors.ts'
import type { Budget } from '../../contract/values.ts'
import type { PriceBook } from './price-book.ts'

/** What a subtree of sessions has used. */
export type Used = {
  readonly tokens: number
  readonly usd: number | null
  /** Some of the money was computed with a price list. */
  readonly isEstimate?: boolean
}

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

/** Who does some work: an agent CLI or `own`, and the model when it is known before it starts. */
export type Worker = { readonly cli: string; readonly model?: string | undefined }

/** Refuses a limit in money for those whose money nobody can count, as far as that is known before they start. */
export function refuseUncountedMoney(
  usd: number | undefined,
  prices: Pick<PriceBook, 'knows'>,
  workers: readonly Worker[],
): void {
  if (usd === undefined) return
  const unknown = workers.map(({ cli }) => cli).filter((cli) => cli !== 'own' && !isCodingCli(cli))
  if (unknown.length > 0)
    throw new AppError(
      'invalid',
      `${[...new Set(unknown)].join(', ')} reports neither tokens nor cost, so a limit of $${usd.toFixed(2)} would never be reached; limit the time instead, or have ${codingCliNames.join(', ')} or a built-in agent do the work`,
    )
  const named = workers.filter(({ cli }) => !isCodingCli(cli) || !agentClis[cli].tellsCost)
  refuseUnpriced(
    prices,
    named.flatMap(({ model }) => model ?? []),
  )
}

/** Refuses models without a price for work whose money is limited. */
export function refuseUnpriced(prices: Pick<PriceBook, 'knows'>, models: readonly string[]): void {
  const without = [...new Set(models)].filter((model) => !prices.knows(model))
  if (without.length > 0) throw new AppError('invalid', `${noPrice(without)}; ${priceCure}`)
}

/** That the money which some models cost is not counted. */
export const noPrice = (models: readonly string[]): string =>
  `no price is known for ${models.join(', ')}, so a limit in dollars cannot be kept`

export const priceCure = 'add its price under models.prices in the settings, or limit the tokens instead'
