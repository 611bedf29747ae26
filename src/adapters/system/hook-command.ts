/** An argument list as one line for a POSIX shell, for the programs that take their hooks only so. */
export const quoteShell = (argv: readonly string[]): string =>
  argv
    .map((word) => (/^[\w./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`))
    .join(' ')

/** A hook that only tells: whatever goes wrong with it, the CLI goes on. */
export const tellingHook = (argv: readonly string[]): string => `${quoteShell(argv)} || :`

const unanswered = 'Muster did not answer, so this tool was not run. You may try again.'

/**
 * A hook that decides whether a tool may run. CLIs take a missing program, a crash and every exit code but 2 for a
 * yes, and a 2 without a reason as well: so each of these becomes a 2 with one.
 */
export const decidingHook = (argv: readonly string[]): string =>
  `${quoteShell(argv)} || { test $? -eq 2 || echo ${quoteShell([unanswered])} >&2; exit 2; }`
