import { AppError } from '../../contract/errors.ts'

/** One argument of a tmux command line: any text but NUL arrives as it is. */
export function quote(text: string): string {
  if (text.includes('\0'))
    throw new AppError('invalid', 'text for tmux holds a NUL character; remove it and try again')
  return `'${text.replace(/'/g, String.raw`'\''`).replace(/\p{Cc}/gu, octal)}'`
}

/** Protects text in an argument that tmux would expand as a format: `#(...)` in a path would run as a command. */
export function literal(text: string): string {
  // Before a bracket tmux keeps doubled signs as they are, so the bracket itself is written as a format.
  return text.replace(/#/g, '##').replace(/##\[/g, '###{l:[}')
}

// A line feed would end the command. What has the high bit is no control byte in UTF-8.
const octal = (char: string): string =>
  char > '\u007f' ? char : `'"\\${char.charCodeAt(0).toString(8).padStart(3, '0')}"'`
