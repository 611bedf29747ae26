import { eventTime } from '../core/json/iso-time.ts'

// In UTF-16 units: at most 180 bytes of UTF-8, so that the whole name stays below the 255 a file system takes.
const longestSlug = 60

/** What names a session file. */
export type FileName = {
  readonly createdAt: string
  readonly sequence: number
  readonly title: string
  readonly isMulti: boolean
}

/** `{date}-{sequence}-{task-summary}.json`, with `-multi` before the dot for a multi-agent session. */
export const sessionFileName = (name: FileName): string => `${sessionStem(name)}.json`

/** The name without its ending; it is also the session_id of what is written. */
export function sessionStem({ createdAt, sequence, title, isMulti }: FileName): string {
  const day = eventTime(createdAt).slice(0, 10)
  const number = String(sequence).padStart(3, '0')
  return `${day}-${number}-${taskSlug(title)}${isMulti ? '-multi' : ''}`
}

/** Lower-case letters of any script, digits and hyphens, none of them unseen; never empty, and never one that ends in -multi. */
export function taskSlug(title: string): string {
  const words = title
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()
    .split(/(?:[^\p{L}\p{N}\p{M}]|\p{DI})+/u)
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
  let slug = ''
  for (const word of words) {
    const next = slug === '' ? shortened(word) : `${slug}-${word}`
    if (next.length > longestSlug) break
    slug = next
  }
  // A single session whose title ends in "multi" would pass for a multi-agent one by its name.
  return slug.replace(/(?:^|-)multi(?:-multi)*$/, '') || 'session'
}

/** The next free sequence number of a day, from the names of the files that are there. */
export function nextSequence(names: Iterable<string>, day: string): number {
  let last = 0
  for (const name of names) {
    const found = new RegExp(`(?:^|[/\\\\])${day}-(\\d{3,})(?:-|\\.json$)`).exec(name)?.[1]
    if (found !== undefined) last = Math.max(last, Number(found))
  }
  return last + 1
}

function shortened(word: string): string {
  const cut = word.slice(0, longestSlug)
  return cut.isWellFormed() ? cut : cut.slice(0, -1)
}
