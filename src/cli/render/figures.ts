// Every age, time, count and sum that people see is written here, so that one thing looks the same everywhere.

const minute = 60
const hour = 60 * minute
const day = 24 * hour

/** A stretch of time: `45s`, `3min`, `1hr 20min`, `2days 3hr`. */
export function duration(seconds: number): string {
  if (seconds < minute) return `${Math.floor(seconds)}s`
  if (seconds < hour) return `${Math.floor(seconds / minute)}min`
  if (seconds < day)
    return joined(`${Math.floor(seconds / hour)}hr`, Math.floor((seconds % hour) / minute), 'min')
  const days = Math.floor(seconds / day)
  return joined(`${days}${days === 1 ? 'day' : 'days'}`, Math.floor((seconds % day) / hour), 'hr')
}

function joined(head: string, rest: number, unit: string): string {
  return rest === 0 ? head : `${head} ${rest}${unit}`
}

/** The same in one word of at most five letters, for a table: `45s`, `3min`, `2days`, `120d`. */
export function shortDuration(seconds: number): string {
  const [first = ''] = duration(seconds).split(' ')
  return first.length > 5 ? first.replace('days', 'd') : first
}

/** A time between two looks at a clock: `12 ms`, `1.4 s`, `3min`. */
export function elapsed(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : duration(ms / 1000)
}

/** An age in one word of at most five letters: `now`, `45s`, `3min`, `2days`. */
export function age(at: string, now: number): string {
  const seconds = secondsSince(at, now)
  if (Number.isNaN(seconds)) return '?'
  return seconds < 1 ? 'now' : shortDuration(seconds)
}

/** How long ago something was: `just now`, `5min ago`, `3hr ago`, `2days ago`. */
export function ago(at: string | number, now: number): string {
  const seconds = secondsSince(at, now)
  if (Number.isNaN(seconds)) return 'at an unknown time'
  return seconds < minute ? 'just now' : `${shortDuration(seconds)} ago`
}

// Two clocks that differ a little must not show the future.
function secondsSince(at: string | number, now: number): number {
  return Math.max(0, now - (typeof at === 'number' ? at : Date.parse(at))) / 1000
}

/** The time of day where the reader is, `15:10`; another day is named: `01-27 15:10`. */
export function clock(timestamp: string, now: number): string {
  const at = new Date(timestamp)
  if (Number.isNaN(at.getTime())) return '--:--'
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`
  const isToday = at.toDateString() === new Date(now).toDateString()
  return isToday ? time : `${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`
}

/** The time of day to the second: `15:10:05`. */
export function clockSeconds(timestamp: string): string {
  const at = new Date(timestamp)
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':')
}

function two(part: number): string {
  return String(part).padStart(2, '0')
}

/** A count with thousands marked: `1,234,567`. */
export function count(value: number): string {
  return String(value).replaceAll(/\B(?=(\d{3})+(?!\d))/g, ',')
}

/** A noun that fits its count: `1 event`, `2 events`. */
export function plural(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`
}

/** A count in at most five letters, for a table: `950`, `12k`, `1.2M`. */
export function shortCount(value: number): string {
  if (value < 1000) return String(value)
  if (value < 999_500) return `${Math.round(value / 1000)}k`
  if (value < 9_950_000) return `${Number((value / 1e6).toFixed(1))}M`
  if (value < 999_500_000) return `${Math.round(value / 1e6)}M`
  return `${Number((value / 1e9).toFixed(1))}G`
}

/** What was spent, in at most six letters: `$0.42`, `$12.30`, `$420`; what was computed is `≈$0.42`, `≈$12`. */
export function money(usd: number, isEstimate = false): string {
  const [about, whole] = isEstimate ? ['≈', 9.995] : ['', 99.995]
  return `${about}$${usd < whole ? usd.toFixed(2) : Math.round(usd)}`
}

/** What may be spent, to the digit that it was given with: `200,000 tokens and $5`. */
export function budgetText({
  tokens,
  usd,
}: {
  tokens?: number | undefined
  usd?: number | undefined
}): string {
  return [tokens && `${count(tokens)} tokens`, usd && `$${usd}`].filter(Boolean).join(' and ') || 'no bound'
}

const units = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/** A size: `0 B`, `1.5 MB`. */
export function bytes(size: number): string {
  let value = size
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : Number(value.toFixed(1))} ${units[unit]}`
}
