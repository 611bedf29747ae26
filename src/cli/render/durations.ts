const minute = 60
const hour = 60 * minute
const day = 24 * hour

/** A stretch of time for people: `45s`, `3min`, `1hr 20min`, `2days 3hr`. */
export function duration(seconds: number): string {
  if (seconds < minute) return `${Math.floor(seconds)}s`
  if (seconds < hour) return `${Math.floor(seconds / minute)}min`
  if (seconds < day)
    return joined(`${Math.floor(seconds / hour)}hr`, Math.floor((seconds % hour) / minute), 'min')
  const days = Math.floor(seconds / day)
  return joined(`${days}${days === 1 ? 'day' : 'days'}`, Math.floor((seconds % day) / hour), 'hr')
}

/** An age in one word of at most five letters, for a table: `now`, `45s`, `3min`, `2days`. */
export function age(at: string, now: number): string {
  const seconds = Math.max(0, now - Date.parse(at)) / 1000
  if (Number.isNaN(seconds)) return '?'
  if (seconds < 1) return 'now'
  const [first = ''] = duration(seconds).split(' ')
  return first.length > 5 ? first.replace('days', 'd') : first
}

function joined(head: string, count: number, unit: string): string {
  return count === 0 ? head : `${head} ${count}${unit}`
}
