import type { CommandDefinition } from '../contract/cli/command.ts'
import { type CommandName, commands } from '../contract/cli.ts'

/** What the daemon says of an input that does not fit: where, and why. */
type Misfit = { readonly path: string; readonly message: string }

/** A refusal in the words of the command line: a person typed an option, and knows of no field. */
export function inWordsOf(
  name: CommandName | undefined,
  { message, details }: { readonly message: string; readonly details?: unknown },
): string {
  const [misfit] = misfitsOf(details)
  if (misfit === undefined || name === undefined) return message
  const word = wordFor(name, misfit.path)
  return `${word === undefined ? 'that does not fit' : word}: ${misfit.message}. See: sm help ${name}`
}

function misfitsOf(details: unknown): readonly Misfit[] {
  if (!Array.isArray(details)) return []
  const isMisfit = (one: unknown): one is Misfit =>
    typeof one === 'object' && one !== null && 'path' in one && 'message' in one
  return details
    .filter(isMisfit)
    .filter(({ path, message }) => typeof path === 'string' && typeof message === 'string')
}

/** The argument or the option that a field of the daemon's was made from. */
function wordFor(name: CommandName, path: string): string | undefined {
  const { arguments: taken, options }: CommandDefinition = commands[name]
  const field = (path.split('.')[0] ?? '').replaceAll('_', '-')
  for (const word of [field, field.replace(/-id$/, ''), field.replace(/s$/, '')]) {
    if (Object.hasOwn(taken, word)) return word
    if (Object.hasOwn(options, word)) return `--${word}`
  }
  const only = Object.keys(taken)
  return field === 'id' && only.length > 0 ? only[0] : undefined
}

const longestWord = 200
const longestText = 2000

/** What somebody typed or pasted is repeated only as far as anybody would read it. */
export function shortened(text: string): string {
  const cut = text.replaceAll(/[^\s'"]{200,}[^\s'";:,]/g, (word) => `${word.slice(0, longestWord / 4)}…`)
  return cut.length > longestText ? `${cut.slice(0, longestText)}…` : cut
}
