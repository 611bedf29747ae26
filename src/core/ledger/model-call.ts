import type { AgentEvent } from '../../contract/event.ts'
import { tokenTotal } from './token-total.ts'

/** What one event says of one model call. Calls are told apart by response id, and the last report wins. */
export type ModelCall = {
  readonly responseId: string
  /** A correction knows the figures but not always where the call was made. */
  readonly isCorrection: boolean
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly reasoning: number
  readonly tokens: number
  /** Billionths of a dollar: whole numbers, so that sums of leaves are exact. */
  readonly costNano: number | undefined
}

/** The leaf of the token ledger in an event, if it has one. */
export function modelCall(event: AgentEvent): ModelCall | undefined {
  if (event.type !== 'llm.request.completed' && event.type !== 'llm.usage.corrected') return undefined
  const { responseId, usage, costUsd } = event.payload
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = usage
  return {
    responseId,
    isCorrection: event.type === 'llm.usage.corrected',
    input,
    output,
    cacheRead,
    cacheWrite,
    reasoning,
    // Reasoning tokens are part of the output in every provider's count.
    tokens: tokenTotal(usage),
    costNano: costUsd === undefined ? undefined : toNano(costUsd),
  }
}

/** A price in dollars as whole billionths. */
export const toNano = (usd: number): number => Math.min(Math.round(usd * 1e9), Number.MAX_SAFE_INTEGER)
