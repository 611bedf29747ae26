import { endedSuffix } from './open-pane.ts'
import { subscription } from './pane-list.ts'

/** Whether a notice of tmux may mean that a pane of ours has ended or gone. */
export function isOfPanes(line: string): boolean {
  if (/^%(?:unlinked-)?window-renamed /.test(line)) return line.endsWith(endedSuffix)
  return (
    line.startsWith(`%subscription-changed ${subscription} `) ||
    /^%(?:sessions-changed|(?:unlinked-)?window-close)/.test(line)
  )
}

/**
 * tmux that keeps login records (utempter, as Debian builds it) ignores the end of children while it takes a closed
 * terminal off them, and then waits for a signal that will not come: this is that signal.
 */
export function remindOfChildren(server: string): void {
  try {
    process.kill(Number.parseInt(server, 10), 'SIGCHLD')
  } catch (error) {
    // The server ended just now, or it is another user's.
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}
