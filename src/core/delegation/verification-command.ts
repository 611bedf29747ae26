import { type ShellWord, shellParts } from './shell-parts.ts'
import { problemOf } from './verification-programs.ts'

/** Whether a command only verifies or looks; the reason is for the model. */
export type Verifies = { readonly ok: true } | { readonly ok: false; readonly reason: string }

/** Variables that only say how a program talks or where it runs. */
const harmlessVariables =
  /^(CI|NODE_ENV|NO_COLOR|FORCE_COLOR|TZ|LANG|LC_[A-Z]+|RUST_BACKTRACE|PYTHONDONTWRITEBYTECODE|CARGO_TERM_COLOR)=/

/** Programs of a project lie in these folders; any other path could be any program. */
const binFolders = /^(\.\/)?(node_modules\/\.bin|\.?venv\/bin|vendor\/bin)\/(?=[\w.-]+$)/

/**
 * The rule for agents that may change nothing: every command of a line has to be one that tests, checks, builds or looks.
 * It keeps an honest model to its task. What the tests of a project do cannot be told from a command, so what they write
 * is thrown away by whoever runs it.
 */
export function verifies(command: string): Verifies {
  const read = shellParts(command)
  if (!read.ok) return refused(read.reason)
  if (read.parts.length === 0) return refused('there is no command in it')
  for (const words of read.parts) {
    const reason = reasonAgainst(words)
    if (reason !== undefined) return refused(reason)
  }
  return { ok: true }
}

const refused = (reason: string): Verifies => ({
  ok: false,
  reason: `Only commands that test, check, build or read may be run, and this is not one of them: ${reason}`,
})

function reasonAgainst(words: readonly ShellWord[]): string | undefined {
  const isOwn = (word: ShellWord) => word.isFixed && harmlessVariables.test(word.text)
  const begin = words.findIndex((word) => !isOwn(word))
  const [first, ...args] = begin === -1 ? [] : words.slice(begin)
  if (!first) return 'it only sets variables; they do not carry over to another call'
  const program = first.text.replace(binFolders, '')
  if (!first.isFixed || /[^\w.+/-]/.test(program))
    return /^\w+\+?=/.test(first.text)
      ? `it sets ${first.text.split('=')[0]}; run the command without it`
      : `${first.text.slice(0, 100)} is not a plain program name`
  return problemOf(
    program,
    args.map(({ text }) => text),
  )
}
