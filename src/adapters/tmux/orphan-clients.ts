/** Control clients have no terminal: what they give as its kind tells whose they are. */
export const ownerTerm = (pid: number): string => `muster-${pid}`

/** Lists the clients of a session for `endOrphans`. */
export const listOwners = (session: string): string =>
  `list-clients -t '${session}' -F '#{client_pid} #{client_termname}'`

/**
 * A control client whose daemon was killed while tmux had something to tell it stays for ever, and what it is told
 * piles up in the server.
 */
export function endOrphans(lines: readonly string[]): void {
  for (const line of lines) {
    const [, client, daemon] = /^(\d+) muster-(\d+)$/.exec(line) ?? []
    if (daemon !== undefined && !signalled(Number(daemon), 0)) signalled(Number(client), 'SIGKILL')
  }
}

/** Whether there was such a process. */
function signalled(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ESRCH' && code !== 'EPERM') throw error
    return code === 'EPERM'
  }
}
