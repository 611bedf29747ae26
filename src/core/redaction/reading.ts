/** The index after spaces and tabs, at most `limit` of them: no reader walks over unbounded space. */
export function skipSpaces(text: string, at: number, limit = 16): number {
  const stop = Math.min(text.length, at + limit)
  let end = at
  while (end < stop && (text[end] === ' ' || text[end] === '\t')) end++
  return end
}

/** Where a global pattern next matches, or the end of the text. */
export function firstIndex(text: string, pattern: RegExp, from: number): number {
  pattern.lastIndex = from
  return pattern.exec(text)?.index ?? text.length
}

/** The index after what a sticky pattern matches at this place, or -1. */
export function matchEnd(text: string, pattern: RegExp, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : -1
}

/** True when the rest of the text from here is spaces only, so that more text could still follow on. */
export function endsAt(text: string, at: number): boolean {
  return skipSpaces(text, at) === text.length
}

/** A variable, template or placeholder stands where the value would be. */
export function isReference(value: string): boolean {
  return references.test(value)
}

const references =
  /^(?:\$(?:[A-Za-z_]\w*$|[{(])|%[A-Za-z_]\w*%$|\{\{|<[^>]*>?$|process\.env\b|os\.(?:environ|getenv)|import\.meta|env\.[A-Z]|getenv|\*{3,}$|\.{3}|[xX]{4,}$|your[-_ ]|op:\/\/|vault:|arn:)/
