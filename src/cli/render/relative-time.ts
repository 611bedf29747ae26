const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** How long ago something was, in one short word: `just now`, `5min ago`, `3hr ago`, `2days ago`. */
export function relativeTime(at: string | number, now: number): string {
  const then = typeof at === 'number' ? at : Date.parse(at)
  if (Number.isNaN(then)) return 'at an unknown time'
  // Two clocks that differ a little must not show the future.
  const age = Math.max(0, now - then)
  if (age < minute) return 'just now'
  if (age < hour) return `${Math.floor(age / minute)}min ago`
  if (age < day) return `${Math.floor(age / hour)}hr ago`
  const days = Math.floor(age / day)
  return days === 1 ? '1day ago' : `${days}days ago`
}
