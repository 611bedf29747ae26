import { AppError } from '../../contract/errors.ts'
import type { OpenRequest } from '../../ports/terminal.ts'

/**
 * The launch as a script: no limit of tmux or of a terminal's line touches it, and no shell of the user's reads it.
 * The program gets the environment of the request and TERM, nothing of tmux's or of ours.
 */
export function launchScript({
  argv,
  env,
  workingDir,
}: Pick<OpenRequest, 'argv' | 'env' | 'workingDir'>): string {
  const assignments = Object.entries(env).map(([name, value]) => {
    if (!/^[^=\0-][^=\0]*$/.test(name))
      throw new AppError('invalid', `"${name}" cannot name an environment variable; rename it`)
    return `${name}=${value}`
  })
  const [program] = argv
  if (program === undefined || program === '' || program.includes('='))
    throw new AppError(
      'invalid',
      'the program to run is empty or its path has a "=" in it; name another path',
    )
  const words = [...assignments, ...argv]
  checkSize(words)
  const term = 'TERM' in env ? '' : ' TERM="$TERM"'
  return [
    '#!/bin/sh',
    // It holds the environment, secrets among it: it is gone from the disk before the program starts.
    'rm -f -- "$0"',
    `cd -- ${shellQuote(workingDir)} || exit 126`,
    `exec /usr/bin/env -i${term} ${words.map(shellQuote).join(' ')}`,
    '',
  ].join('\n')
}

export const shellQuote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** Linux takes 128 KiB in one argument, its ending NUL included. */
const maxWordBytes = 128 * 1024 - 1
/** What every system takes in all of them together. */
const maxTotalBytes = 1024 * 1024

function checkSize(words: readonly string[]): void {
  let total = 0
  for (const word of words) {
    const bytes = Buffer.byteLength(word)
    total += bytes + 9
    if (word.includes('\0')) throw new AppError('invalid', 'an argument holds a NUL character; remove it')
    if (bytes > maxWordBytes)
      throw tooLong(`one argument has ${bytes} bytes, and the limit is ${maxWordBytes}`)
  }
  if (total > maxTotalBytes)
    throw tooLong(`all arguments have ${total} bytes, and the limit is ${maxTotalBytes}`)
}

const tooLong = (what: string): AppError =>
  new AppError('invalid', `${what}; put the long text into a file and name the file`)
