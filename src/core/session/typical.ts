/** What sessions of a kind usually take, and what that is known from. */
export type Typical = { readonly tokens: number; readonly basis: string }

type Past = { readonly agentType: string | null; readonly tokens: number | null }

const fewest = 3

/** The median of earlier sessions of the same kind that completed; too few of them say nothing. */
export function typicalOf(agentType: string | null, past: readonly Past[]): Typical | undefined {
  if (agentType === null) return undefined
  const used = past
    .filter((one) => one.agentType === agentType && (one.tokens ?? 0) > 0)
    .map(({ tokens }) => tokens ?? 0)
    .toSorted((a, b) => a - b)
  if (used.length < fewest) return undefined
  return {
    tokens: used[Math.floor((used.length - 1) / 2)] ?? 0,
    basis: `the median of ${used.length} earlier ${agentType} sessions`,
  }
}
