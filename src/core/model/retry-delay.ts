/** How often a model call is tried, and how long is waited in between. */
export type RetryPolicy = {
  readonly maxAttempts: number
  readonly firstMs: number
  readonly longestMs: number
}

/** What is known of an attempt that failed. */
export type FailedAttempt = {
  /** The first is 1. */
  readonly attempt: number
  readonly isPassing: boolean
  readonly retryAfterMs?: number | undefined
}

/**
 * How long to wait before the next attempt; nothing when there is to be none. What the provider asks for is
 * the least; a provider that asks for more than a person would wait is not waited for.
 */
export function retryDelay(failed: FailedAttempt, policy: RetryPolicy, chance: number): number | undefined {
  const { attempt, isPassing, retryAfterMs = 0 } = failed
  if (!isPassing || attempt >= policy.maxAttempts || retryAfterMs > policy.longestMs) return undefined
  const most = Math.min(policy.longestMs, policy.firstMs * 2 ** (attempt - 1))
  // Half of it is left to chance, so that many agents that failed together do not come back together.
  return Math.max(retryAfterMs, Math.round(most / 2 + (most / 2) * chance))
}
