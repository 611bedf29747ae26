import { agentClis, isCodingCli } from '../../contract/agent-clis.ts'
import type { SessionRow } from '../../contract/index-rows.ts'
import { ownPrices } from '../../contract/price.ts'
import type { SessionView } from '../../contract/session-views.ts'

type CostView = Pick<SessionView, 'billing' | 'cost_usd' | 'cost_is_estimate' | 'cost_basis'>
type Costly = Pick<
  SessionRow,
  'cli' | 'model' | 'billing' | 'costUsd' | 'estimatedUsd' | 'priceList' | 'unpriced'
>

/** What a session has cost, and how that is known: reported by its CLI, or computed; never a bill where a plan pays. */
export function costView(row: Costly, model = row.model): CostView {
  const { costUsd } = row
  const billing = row.billing === 'api' || row.billing === 'plan' ? row.billing : null
  return {
    billing,
    cost_usd: costUsd,
    cost_is_estimate: costUsd !== null && (isEstimate(row) || billing === 'plan'),
    cost_basis: basisOf(row, { billing, model }),
  }
}

/** Whether any part of a sum was computed with a price list. */
export const isEstimate = ({ estimatedUsd }: Pick<Costly, 'estimatedUsd'>): boolean => (estimatedUsd ?? 0) > 0

function basisOf(
  row: Costly,
  { billing, model }: { readonly billing: CostView['billing']; readonly model: string | null },
): string | null {
  const { cli, costUsd, estimatedUsd, priceList, unpriced } = row
  const cliFacts = cli !== null && isCodingCli(cli) ? agentClis[cli] : undefined
  // A CLI that tells its cost tells a sum, which does not lie with every call.
  const isCounted = cliFacts?.tellsCost === true || unpriced === 0
  if (costUsd === null)
    return isCounted || (cliFacts === undefined && billing === null)
      ? null
      : `no price is known for ${model ?? 'its model'}`
  const prices = priceList === ownPrices ? 'at the prices of your settings' : `at API price of ${priceList}`
  const words = [
    ...(costUsd > (estimatedUsd ?? 0) ? [`reported by ${cliFacts?.title ?? 'the program'}`] : []),
    ...(isEstimate(row) ? [prices] : []),
    ...(billing === 'plan' ? ['at API price, a plan pays'] : []),
    ...(isCounted ? [] : [`without ${unpriced} calls of models that have no price`]),
  ]
  return words.join(', ') || null
}
