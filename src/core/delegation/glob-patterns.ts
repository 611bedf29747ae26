/** A part of a glob between two slashes: `**`, or what one name has to look like. */
export type Part = '**' | readonly Sign[]
/** One character, any one, or any number of them; a class by its own expression. */
export type Sign =
  | string
  | { readonly kind: 'one' | 'many' }
  | { readonly kind: 'class'; readonly of: RegExp }

const mostChoices = 1000
const known = new Map<string, readonly (readonly Part[])[]>()

/** The patterns that a glob stands for: one for each choice of its braces, in parts between slashes. */
export function patternsOf(glob: string): readonly (readonly Part[])[] {
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
export const takesChar = (sign: Sign, char: string): boolean =>
  typeof sign === 'string'
    ? sign === char
    : sign.kind === 'one' || (sign.kind === 'class' && sign.of.test(char))
