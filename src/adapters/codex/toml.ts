/** A value that TOML can write on one line. */
export type Toml = string | number | boolean | readonly Toml[] | { readonly [key: string]: Toml }

/** A TOML value on one line, for `-c key=value`. */
export function toml(value: Toml): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value !== 'object') return String(value)
  if (isList(value)) return `[${value.map(toml).join(',')}]`
  return `{${Object.entries(value)
    .map(([key, item]) => `${quoted(key)}=${toml(item)}`)
    .join(',')}}`
}

const isList = (value: object): value is readonly Toml[] => Array.isArray(value)

/** JSON's escapes are TOML's, but for DEL, which must be escaped, and lone surrogates, which cannot be. */
const quoted = (text: string): string =>
  JSON.stringify(text.toWellFormed()).replaceAll('\u007f', String.raw`\u007f`)
