/** The time of day where the reader is, `15:10`; another day is named: `01-27 15:10`. */
export function clock(timestamp: string, now: number): string {
  const at = new Date(timestamp)
  if (Number.isNaN(at.getTime())) return '--:--'
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`
  const isToday = at.toDateString() === new Date(now).toDateString()
  return isToday ? time : `${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`
}

function two(part: number): string {
  return String(part).padStart(2, '0')
}
