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

const mostPairs = 10_000

/** Whether one path can be named by both globs. Where that takes too long to find out, the answer is yes. */
export function globsOverlap(left: string, right: string): boolean {
  const [lefts, rights] = [patternsOf(left), patternsOf(right)]
  if (lefts.length * rights.length > mostPairs) return true
  return lefts.some((one) => rights.some((other) => patternsMeet(one, other)))
}

/** Walks both patterns name by name; a pattern that is at its end takes whatever lies below. */
function patternsMeet(left: readonly Part[], right: readonly Part[]): boolean {
  return meet(left.length, right.length, (i, j) => {
    const [one, other] = [left[i], right[j]]
    const steps: Step[] = []
    // In front of more it may stand for nothing; at the end it stands for something below.
    if (one === '**' && i < left.length - 1) steps.push([i + 1, j])
    if (other === '**' && j < right.length - 1) steps.push([i, j + 1])
    if (one === undefined || other === undefined || one === '**' || other === '**' || namesMeet(one, other))
      for (const a of after(left, i)) for (const b of after(right, j)) steps.push([a, b])
    return steps
  })
}

/** Where a pattern may be once it took a name. */
function after(parts: readonly Part[], at: number): number[] {
  if (at >= parts.length) return [at]
  if (parts[at] !== '**') return [at + 1]
  return at === parts.length - 1 ? [at + 1] : [at]
}

function namesMeet(left: readonly Sign[], right: readonly Sign[]): boolean {
  return meet(left.length, right.length, (i, j) => {
    const [one, other] = [left[i], right[j]]
    const steps: Step[] = []
    if (isMany(one)) steps.push([i + 1, j])
    if (isMany(other)) steps.push([i, j + 1])
    if (one !== undefined && other !== undefined && signsMeet(one, other))
      steps.push([isMany(one) ? i : i + 1, isMany(other) ? j : j + 1])
    return steps
  })
}

// Two classes may have nothing in common; saying that they might costs no more than an order between two tasks.
const signsMeet = (one: Sign, other: Sign): boolean =>
  typeof one === 'string'
    ? isMany(other) || takesChar(other, one)
    : typeof other === 'string'
      ? isMany(one) || takesChar(one, other)
      : true

const isMany = (sign: Sign | undefined): boolean => typeof sign === 'object' && sign.kind === 'many'

type Step = readonly [number, number]

/** Whether both can come to their ends together. */
function meet(left: number, right: number, stepsFrom: (i: number, j: number) => Step[]): boolean {
  const seen = new Set<number>([0])
  const open: Step[] = [[0, 0]]
  for (let next = open.pop(); next; next = open.pop()) {
    const [i, j] = next
    if (i === left && j === right) return true
    for (const step of stepsFrom(i, j)) {
      const key = step[0] * (right + 1) + step[1]
      if (!seen.has(key)) {
        seen.add(key)
        open.push(step)
      }
    }
  }
  return false
}

/** Why a glob is no part of a scope; nothing when it is one. */
export const scopeProblem = (glob: string): string | undefined =>
  /^[/~]|^[a-z]:/i.test(glob) || glob.split('/').includes('..')
    ? `the scope ${JSON.stringify(glob.slice(0, 100))} has to be relative to the project, without ..`
    : undefined

/** A part of a glob between two slashes: `**`, or what one name has to look like. */
type Part = '**' | readonly Sign[]

/** One character, any one, or any number of them; a class by its own expression. */
type Sign = string | { readonly kind: 'one' | 'many' } | { readonly kind: 'class'; readonly of: RegExp }

const mostChoices = 1000
const known = new Map<string, readonly (readonly Part[])[]>()

/** The patterns that a glob stands for: one for each choice of its braces, in parts between slashes. */
function patternsOf(glob: string): readonly (readonly Part[])[] {
  const found = known.get(glob)
  if (found) return found
  const made = choicesOf(glob).map((choice) =>
    choice
      .split('/')
      .filter((part) => part !== '' && part !== '.')
      .map((part) => (part === '**' ? part : signsOf(part))),
  )
  if (known.size > 1000) known.clear()
  known.set(glob, made)
  return made
}

/** `a{b,c}` as `ab` and `ac`; braces that are not closed, or give too many, are plain characters. */
function choicesOf(glob: string): string[] {
  let choices = [glob]
  for (;;) {
    const next = choices.flatMap((choice) => {
      const braces = /\{([^{}]*,[^{}]*)\}/.exec(choice)
      if (!braces) return [choice]
      const [before, after] = [choice.slice(0, braces.index), choice.slice(braces.index + braces[0].length)]
      return (braces[1] as string).split(',').map((one) => `${before}${one}${after}`)
    })
    if (next.length === choices.length) return choices
    if (next.length > mostChoices) return [glob]
    choices = next
  }
}

function signsOf(part: string): Sign[] {
  const signs: Sign[] = []
  for (const [token] of part.matchAll(/\[!?[^\]]+\]|\*+|\?|[\s\S]/gu)) {
    if (token.startsWith('*')) signs.push({ kind: 'many' })
    else if (token === '?') signs.push({ kind: 'one' })
    else if (token.length > 2 && token.startsWith('[')) signs.push({ kind: 'class', of: classOf(token) })
    else signs.push(token)
  }
  return signs
}

function classOf(token: string): RegExp {
  const isNot = token[1] === '!'
  const chars = token.slice(isNot ? 2 : 1, -1).replaceAll(/[\\\]^[&~|]/g, String.raw`\$&`)
  try {
    return new RegExp(`^[${isNot ? '^' : ''}${chars}]$`, 'u')
  } catch {
    // A range that runs backwards names nothing.
    return /^(?!)/
  }
}

/** Whether one character is what a sign stands for. */
const takesChar = (sign: Sign, char: string): boolean =>
  typeof sign === 'string'
    ? sign === char
    : sign.kind === 'one' || (sign.kind === 'class' && sign.of.test(char))

/** A glob is inside another only where that can be told for certain. */
export function globInside(glob: string, allowed: string): boolean {
  if (glob === allowed) return true
  if (glob.split('/').includes('..') || /[[\]{}]/.test(glob)) return false
  if (!/[*?]/.test(glob)) return matchesGlob(glob, allowed)
  const folder = /^([^*?[{]+\/)\*\*$/.exec(allowed)?.[1]
  return allowed === '**' || (folder !== undefined && glob.startsWith(folder))
}

/** Several limits as one that is surely within all of them; nothing where that cannot be told. */
export function oneScope(scopes: readonly (readonly string[])[]): readonly string[] | undefined {
  const limits = scopes.filter((globs) => globs.length > 0)
  for (const globs of limits.toReversed()) {
    const others = limits.filter((other) => other !== globs)
    const inside = globs.filter((glob) => others.every((other) => other.some((one) => globInside(glob, one))))
    if (inside.length > 0) return inside
  }
  return undefined
}
