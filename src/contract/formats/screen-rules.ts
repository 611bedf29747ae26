import type { Dialog } from '../signal.ts'

/** What a dialog is about, by the words on the screen above its choices. */
export type DialogRule = { readonly kind: Dialog['kind']; readonly says: RegExp }

/** The first rule that fits one of the lines, and that line as the dialog's title. */
export function dialogKind(
  lines: readonly string[],
  rules: readonly DialogRule[],
): { readonly kind: Dialog['kind']; readonly title: string } | undefined {
  for (const { kind, says } of rules) {
    const title = lines.findLast((line) => says.test(line))
    if (title !== undefined) return { kind, title: title.replaceAll(/[│┃╭╮╰╯]/g, '').trim() }
  }
  return undefined
}

/** The rules for a version: those of the newest one that is not newer, or the oldest known. */
export function rulesFor<T>(byVersion: readonly (readonly [since: string, rules: T])[], version: string): T {
  const [oldest] = byVersion
  if (!oldest) throw new RangeError('there are no rules at all')
  const fitting = byVersion.findLast(([since]) => compareVersions(since, version) <= 0)
  return (fitting ?? oldest)[1]
}

function compareVersions(left: string, right: string): number {
  const [a, b] = [left, right].map((version) => version.split(/[.-]/).map(Number))
  for (let i = 0; i < 3; i++) {
    const difference = (a?.[i] || 0) - (b?.[i] || 0)
    if (difference !== 0) return difference
  }
  return 0
}
