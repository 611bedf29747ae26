import { shellQuoted } from './shell-quoted.ts'

/** What the status line's script needs. */
export type StatusLineParts = {
  readonly folder: string
  readonly hookCommand: readonly string[]
  /** The user's own, which must still be seen. */
  readonly theirs?: string
}

/**
 * A script that keeps what it is given, has the newest of it reported every two seconds while there is any, and shows
 * the user's own line. It must end at once: the CLI waits for it.
 */
export function statusLineScript({ folder, hookCommand, theirs }: StatusLineParts): string {
  const report = shellQuoted([...hookCommand, 'statusline'])
  const show = theirs === undefined ? '' : `printf '%s\\n' "$payload" | sh -c ${shellQuoted([theirs])}\n`
  return `#!/bin/sh
payload=$(cat)
(
  cd ${shellQuoted([folder])} || exit
  umask 077
  printf '%s\\n' "$payload" > meter.$$ && mv meter.$$ meter.json
  kill -0 "$(cat meter.pid 2>/dev/null)" 2>/dev/null && exit
  (while sleep 2 && mv meter.json meter.sent; do ${report} < meter.sent; done) &
  echo $! > meter.pid
) > /dev/null 2>&1 < /dev/null
${show}`
}
