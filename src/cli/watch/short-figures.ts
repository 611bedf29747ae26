const minute = 60
const hour = 60 * minute
const day = 24 * hour

/** An age in at most four letters: `9s`, `45m`, `23h`, `120d`. */
export function shortAge(at: string, now: number): string {
  const seconds = Math.floor(Math.max(0, now - Date.parse(at)) / 1000)
  if (Number.isNaN(seconds)) return '?'
  if (seconds < minute) return `${seconds}s`
  if (seconds < hour) return `${Math.floor(seconds / minute)}m`
  if (seconds < day) return `${Math.floor(seconds / hour)}h`
  return `${Math.floor(seconds / day)}d`
}

/** A count in at most five letters: `950`, `12k`, `1.2M`. */
export function shortCount(count: number): string {
  if (count < 1000) return String(count)
  if (count < 999_500) return `${Math.round(count / 1000)}k`
  if (count < 9_950_000) return `${Number((count / 1e6).toFixed(1))}M`
  if (count < 999_500_000) return `${Math.round(count / 1e6)}M`
  return `${Number((count / 1e9).toFixed(1))}G`
}

/** Money in at most six letters: `$0.42`, `$12.30`, `$420`. */
export function shortCost(usd: number): string {
  return usd < 99.995 ? `$${usd.toFixed(2)}` : `$${Math.round(usd)}`
}
