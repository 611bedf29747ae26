/**
 * Whether a path is one that a glob names: `*` and `?` stay inside a folder, `**` crosses folders, `{a,b}` is a
 * choice, `[a-z]` a class. Paths are relative to the project, with `/`; a glob that names a folder names what is in it.
 */
export function matchesGlob(path: string, glob: string): boolean {
  const pattern = glob.replace(/^\.?\/+/, '').replace(/\/+$/, '')
  if (pattern === '' || pattern === '.') return true
  return expressionOf(pattern).test(path)
}

const known = new Map<string, RegExp>()

function expressionOf(glob: string): RegExp {
  const found = known.get(glob)
  if (found) return found
  const made = new RegExp(`^${translated(glob)}(?:/.*)?$`, 'su')
  if (known.size > 1000) known.clear()
  known.set(glob, made)
  return made
}

function translated(glob: string): string {
  let out = ''
  let choices = 0
  for (let i = 0; i < glob.length; ) {
    const rest = glob.slice(i)
    const wide = /^\*\*(\/|$)/.exec(rest)
    const set = /^\[(!?)([^\]/]+)\]/.exec(rest)
    const char = String.fromCodePoint(glob.codePointAt(i) as number)
    if (wide && (i === 0 || glob[i - 1] === '/')) {
      out += wide[1] === '/' ? '(?:[^/]+/)*' : '.+'
      i += wide[0].length
    } else if (set) {
      out += `[${set[1] ? '^/' : ''}${(set[2] as string).replaceAll(/[\\\]^&~|]/g, String.raw`\$&`)}]`
      i += set[0].length
    } else if (char === '{' && rest.includes('}')) {
      choices += 1
      out += '(?:'
      i += 1
    } else if (choices > 0 && (char === ',' || char === '}')) {
      out += char === ',' ? '|' : ')'
      choices -= char === '}' ? 1 : 0
      i += 1
    } else {
      out += char === '*' ? '[^/]*' : char === '?' ? '[^/]' : literal(char)
      i += char.length
    }
  }
  return out + ')'.repeat(choices)
}

const literal = (char: string): string => char.replaceAll(/[$()*+./?[\\\]^{|}-]/gu, String.raw`\$&`)
