import type * as z from 'zod'

/** What a line begins with that somebody else made up. */
const forged = 'FORGED'

/** A text that tries all that a text can do to a terminal. Its colours are none of those that `sm` uses. */
export const hostile = [
  'h\u001b[35m\u001b[8mi\u001b[2J\u001b[1;1H\u001b]0;title\u0007\u001b]52;c;aGk=\u001b\\\u001bc',
  '\u009b35m\u009d0;title\u009c\u0090q\u0007\u0008\u007f',
  '\u202ea\u2066b\u2069\u200e\u200f\u061c\u200b\u2060\ufeff\u00ad\u{e0041}\u{e0101}m\u200dm',
  `\r${forged}\n${forged}\r\n${forged}\u2028${forged}\u2029${forged}\u0085${forged}\u000b${forged}\ttab`,
].join('')

/** What may not be printed, in so many words and apart from how the product finds it. */
const forbidden =
  /[^\P{Cc}\n\t]|[\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]|m\u200dm|[\u{e0000}-\u{e0fff}]/gu

const colours = /\p{Cc}\[(?:1|2|7|22|27|31|32|33|36|39)m/gu

/** What is wrong with a text that was printed: characters that no terminal may get, and lines that somebody else made up. */
export function printedFaults(printed: string, { hasLines = false } = {}): string[] {
  const text = printed.replaceAll(colours, '')
  const lines = hasLines ? [] : text.split('\n').filter((line) => line.startsWith(forged))
  return [
    ...new Set([
      ...[...text.matchAll(forbidden)].map(([found], i, all) => {
        const at = all[i]?.index ?? 0
        return `U+${found.codePointAt(0)?.toString(16).padStart(4, '0')} in ${JSON.stringify(text.slice(Math.max(0, at - 30), at + 10))}`
      }),
      ...lines.map((line) => `a line of its own: ${line.slice(0, 40)}`),
    ]),
  ]
}

/** A value with a hostile text wherever its schema takes one; with `keys`, also wherever it takes any key. */
export function poisoned(schema: z.ZodType, value: unknown, { keys = false } = {}): unknown {
  let whole = value
  const attempt = (next: unknown): void => {
    if (schema.safeParse(next).success) whole = next
  }
  for (const path of leaves(value)) {
    const isOurs = machineMade.test(String(path.findLast((key) => typeof key === 'string')))
    const text = isOurs ? hostileWord : hostile
    attempt(changedAt(whole, path, () => (path.at(-1) === 'url' ? `http://[::1]/${hostileWord}` : text)))
  }
  if (keys) for (const path of objects(whole)) attempt(changedAt(whole, path, withHostileKey))
  return whole
}

/** What the daemon and `sm` themselves make up, a word each: nobody else can put lines into it. */
const machineMade =
  /(^|_)ids?$|Id$|(_at|At|_until)$|^(version|node|platform|entry|unit|forward|tmux_session|attach)$/
const hostileWord = hostile.replaceAll(/\p{White_Space}/gu, '')

type Path = readonly (string | number)[]

const partsOf = (value: unknown): [string | number, unknown][] =>
  Array.isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : []

function leaves(value: unknown, path: Path = []): Path[] {
  if (typeof value === 'string') return [path]
  return partsOf(value).flatMap(([key, part]) => leaves(part, [...path, key]))
}

/** The inner ones first: what is renamed outside would not be found again. */
function objects(value: unknown, path: Path = []): Path[] {
  const inner = partsOf(value).flatMap(([key, part]) => objects(part, [...path, key]))
  return isObject(value) ? [...inner, path] : inner
}

function changedAt(value: unknown, [key, ...path]: Path, change: (part: unknown) => unknown): unknown {
  if (key === undefined) return change(value)
  if (Array.isArray(value)) return value.with(Number(key), changedAt(value[Number(key)], path, change))
  const fields = value as Record<string, unknown>
  return { ...fields, [key]: changedAt(fields[key], path, change) }
}

function withHostileKey(value: unknown): unknown {
  const [[, first] = [], ...rest] = Object.entries(value as object)
  return { [hostile]: first, ...Object.fromEntries(rest) }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
