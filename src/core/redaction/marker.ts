/** What stands in the place of a secret. */
export function marker(secretClass: string): string {
  return `[redacted:${secretClass}]`
}

/** Names that may stand in a marker; anything wider could carry a secret inside a forged one. */
export const classPattern = /^[a-z][a-z0-9-]{0,39}$/

/** Finds the markers of these classes and no others. */
export function markerPattern(classes: readonly string[]): RegExp {
  return new RegExp(String.raw`\[redacted:(?:${classes.join('|')})\]`, 'g')
}
