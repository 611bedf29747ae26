const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const
export type Colour = keyof typeof codes

/** Wraps a text in a colour, or leaves it alone when colours are off. */
export type Paint = (colour: Colour, text: string) => string

export function painter(isOn: boolean): Paint {
  return (colour, text) => {
    const [begin, end] = codes[colour]
    return isOn && text !== '' ? `\u001b[${begin}m${text}\u001b[${end}m` : text
  }
}

/** A line of a diff in the colours that git gives it. */
export function paintedDiff(line: string, paint: Paint): string {
  if (/^(\+\+\+|---|diff |index )/.test(line)) return paint('bold', line)
  if (line.startsWith('@@')) return paint('cyan', line)
  return line.startsWith('+') ? paint('green', line) : line.startsWith('-') ? paint('red', line) : line
}
