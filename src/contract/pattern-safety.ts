/**
 * Why a regular expression could take for ever, or undefined. Two shapes are refused: a repetition without
 * bound inside another, and a repeated choice whose branches can begin alike.
 */
export function findCatastrophe(source: string): string | undefined {
  const stack: Group[] = [newGroup()]
  for (let i = 0; i < source.length; ) {
    const group = stack.at(-1)!
    const char = source[i]!
    if (char === '(') {
      stack.push(newGroup())
      i += /^\((?:\?(?:<?[=!]|<[^>]*>|:|[a-z-]*:))?/.exec(source.slice(i, i + 80))![0].length
      continue
    }
    if (char === '|') {
      group.branches.push('')
      i++
      continue
    }
    const closing = char === ')' && stack.length > 1
    const atom = closing ? ')' : readAtom(source, i)
    const quantifier = readQuantifier(source, i + atom.length)
    if (closing) {
      stack.pop()
      const reason = quantifier.unbounded ? whyUnsafe(group) : undefined
      if (reason !== undefined) return reason
      const parent = stack.at(-1)!
      parent.repeats ||= group.repeats || quantifier.unbounded
      extend(parent, group.branches.length === 1 ? group.branches[0]! : '.')
    } else {
      group.repeats ||= quantifier.unbounded
      extend(group, atom)
    }
    i += atom.length + quantifier.length
  }
  return undefined
}

/** `branches` holds the first atom of each alternative. */
type Group = { repeats: boolean; branches: string[] }

function newGroup(): Group {
  return { repeats: false, branches: [''] }
}

function extend(group: Group, atom: string): void {
  const last = group.branches.length - 1
  if (group.branches[last] === '') group.branches[last] = atom
}

function whyUnsafe(group: Group): string | undefined {
  if (group.repeats) return 'its pattern nests one unbounded repetition in another'
  const [first, ...others] = group.branches.map((branch) => branch.toLowerCase())
  if (others.length === 0) return undefined
  const all = [first!, ...others]
  const wide = all.some((branch) => branch === '' || branch === '.' || /^(?:\[|\\[wWsSdD])/.test(branch))
  return wide || new Set(all).size < all.length
    ? 'its pattern repeats a choice whose branches can start the same way'
    : undefined
}

function readAtom(source: string, at: number): string {
  if (source[at] === '\\') return source.slice(at, at + 2)
  if (source[at] !== '[') return source[at]!
  let end = at + 1
  while (end < source.length && source[end] !== ']') end += source[end] === '\\' ? 2 : 1
  return source.slice(at, end + 1)
}

/** Repeating up to sixty-four times inside a repetition is as bad as without bound. */
const maxCount = 64

function readQuantifier(source: string, at: number): { length: number; unbounded: boolean } {
  const match = /^(?:([*+])|\?|\{([0-9]+)(,?)([0-9]*)\})\??/.exec(source.slice(at, at + 24))
  if (match === null) return { length: 0, unbounded: false }
  const [whole, star, low, comma, high] = match
  const top = comma === '' ? Number(low) : high === '' || high === undefined ? Infinity : Number(high)
  return { length: whole.length, unbounded: star !== undefined || (low !== undefined && top > maxCount) }
}
