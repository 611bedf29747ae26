/** Arguments as one line for a POSIX shell that reads each of them back as it was. */
export const shellQuoted = (argv: readonly string[]): string =>
  argv.map((arg) => `'${arg.replaceAll("'", `'\\''`)}'`).join(' ')
