import { createHash } from 'node:crypto'

/** The tmux server of a state folder: `muster` for the usual one, another for each other folder, so that they never meet. */
export function socketName(home: string, usualHome: string): string {
  if (home === usualHome) return 'muster'
  return `muster-${createHash('sha256').update(home).digest('hex').slice(0, 8)}`
}
