import { type Part, patternsOf, type Sign, takesChar } from './glob-patterns.ts'

/**
 * Whether a path is one that a glob names: `*` and `?` stay inside a folder, `**` crosses folders, `{a,b}` is a
 * choice, `[a-z]` a class. Paths are relative to the project, with `/`; a glob that names a folder names what is in it.
 * No glob takes long, whatever it is made of: globs come with the projects of strangers.
 */
export function matchesGlob(path: string, glob: string): boolean {
  const names = path.split('/')
  return patternsOf(glob).some((pattern) => matchesFrom(pattern, names))
}

/** Which parts may come next, name after name: the work is parts times names, never more. */
function matchesFrom(parts: readonly Part[], names: readonly string[]): boolean {
  let open = closed(new Set([0]), parts)
  for (const name of names) {
    if (open.has(parts.length)) return true
    const next = new Set<number>()
    for (const at of open) {
      const part = parts[at]
      // At the end it stands for something below, never for nothing.
      if (part === '**') next.add(at === parts.length - 1 ? parts.length : at)
      else if (part && matchesName(part, name)) next.add(at + 1)
    }
    open = closed(next, parts)
  }
  return open.has(parts.length)
}

/** `**` in front of more may also stand for nothing. */
function closed(open: Set<number>, parts: readonly Part[]): Set<number> {
  for (const at of open) if (parts[at] === '**' && at < parts.length - 1) open.add(at + 1)
  return open
}

/** Stars are tried from the shortest on; only the last one is ever tried again. */
function matchesName(signs: readonly Sign[], name: string): boolean {
  const chars = Array.from(name)
  let [sign, char] = [0, 0]
  let star: { readonly sign: number; char: number } | undefined
  while (char < chars.length) {
    const wanted = signs[sign]
    if (typeof wanted === 'object' && wanted.kind === 'many') {
      star = { sign, char }
      sign += 1
    } else if (wanted !== undefined && takesChar(wanted, chars[char] as string)) {
      sign += 1
      char += 1
    } else if (star) {
      star.char += 1
      sign = star.sign + 1
      char = star.char
    } else return false
  }
  return signs.slice(sign).every((rest) => typeof rest === 'object' && rest.kind === 'many')
}
