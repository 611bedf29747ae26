const units = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/** A size for people: `0 B`, `1.5 MB`. */
export function bytes(count: number): string {
  let size = count
  let unit = 0
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024
    unit++
  }
  return `${unit === 0 || size >= 100 ? Math.round(size) : Number(size.toFixed(1))} ${units[unit]}`
}

/** A count with thousands marked: `1,234,567`. */
export function count(value: number): string {
  return String(value).replaceAll(/\B(?=(\d{3})+(?!\d))/g, ',')
}

/** A noun that fits its count: `1 event`, `2 events`. */
export function plural(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`
}
