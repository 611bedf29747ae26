import type { RateLimit, Signal } from '../../../contract/signal.ts'
import { RateLimitWindow, StatusPayload } from './hook-payload.ts'
import { present } from './present.ts'

/** What the status line knows: nothing else tells how full the context is and how much of an allowance is used. */
export function meterOf(payload: unknown, at: number): readonly Signal[] {
  const read = StatusPayload.safeParse(payload)
  if (!read.success) return []
  const { model, cost, context_window: context, rate_limits: limits } = read.data
  if (!model && !cost && !context) return []
  return [
    {
      kind: 'meter',
      source: 'hook',
      at,
      ...present({
        model: model?.id,
        costUsd: cost?.total_cost_usd,
        contextPercent: context?.used_percentage,
        limits: limits && rateLimits(limits),
      }),
    },
  ]
}

const rateLimits = (limits: Readonly<Record<string, unknown>>): RateLimit[] =>
  Object.entries(limits).flatMap(([name, window]) => {
    const read = RateLimitWindow.safeParse(window)
    if (!read.success) return []
    const { used_percentage: usedPercent, resets_at: resetsAt } = read.data
    return [
      { name, ...present({ usedPercent, resetsAtMs: resetsAt === undefined ? undefined : resetsAt * 1000 }) },
    ]
  })
