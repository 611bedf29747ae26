/** Whether a version is that one or later; a text that is no version is older than all. */
export function isAtLeast(version: string, since: string): boolean {
  const [have, want] = [partsOf(version), partsOf(since)]
  if (have.length === 0) return false
  for (let i = 0; i < want.length; i++) {
    const difference = (have[i] ?? 0) - (want[i] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return true
}

/** The version in what a program prints, like `2.1.325 (Claude Code)`. */
export const versionIn = (text: string): string | undefined => /\d+\.\d+\.\d+/.exec(text)?.[0]

const partsOf = (version: string): number[] => versionIn(version)?.split('.').map(Number) ?? []
