import type { Permit } from '../../contract/values.ts'

const most = 500
const none: readonly Permit[] = []

/** The permits after one more; the oldest go when there are too many, and are asked for again. */
export function withPermit(permits: readonly Permit[] = none, permit: Permit | undefined): readonly Permit[] {
  if (!permit) return permits
  const key = JSON.stringify(permit)
  return [...permits.filter((other) => JSON.stringify(other) !== key), permit].slice(-most)
}
