import { AppError } from '../../contract/errors.ts'
import type { Clock } from '../../ports/clock.ts'
import type { TerminalEvent } from '../../ports/terminal.ts'
import { endedSuffix } from './open-pane.ts'
import { type PaneRow, subscription } from './pane-list.ts'

/** Turns lists of our panes into what happened between them, each thing once. */
type PaneWatch = {
  /** Compares with what was known; the first list is only learned. */
  see(rows: readonly PaneRow[]): void
  /** A pane that is being opened is not spoken of until its opener knows it. */
  opening(mark: string): void
  opened(row: Pick<PaneRow, 'mark' | 'server' | 'session' | 'pane'>): void
  /** That run of the server is over: nothing is told of its panes one by one. */
  forget(server: string): void
  /** No pane came of it. */
  abandoned(mark: string): void
}

export function paneWatch(emit: (event: TerminalEvent) => void): PaneWatch {
  const known = new Map<
    string,
    { readonly server: string; readonly session: string; readonly isDead: boolean }
  >()
  const held = new Set<string>()

  return {
    see(rows) {
      const listed = new Set(rows.map(key))
      for (const [pane, { server, session }] of known) {
        if (listed.has(pane)) continue
        known.delete(pane)
        emit({ kind: 'closed', server, session })
      }
      for (const row of rows) {
        if (held.has(row.mark)) continue
        const before = known.get(key(row))
        known.set(key(row), { server: row.server, session: row.session, isDead: row.isDead })
        if (before === undefined || before.isDead || !row.isDead) continue
        emit({
          kind: 'exited',
          server: row.server,
          pane: row.pane,
          ...(row.exitCode === undefined ? {} : { code: row.exitCode }),
          ...(row.exitSignal === undefined ? {} : { signal: row.exitSignal }),
        })
      }
    },
    opening: (mark) => {
      held.add(mark)
    },
    opened(row) {
      held.delete(row.mark)
      known.set(key(row), { server: row.server, session: row.session, isDead: false })
    },
    forget(server) {
      for (const [pane, one] of known) if (one.server === server) known.delete(pane)
    },
    abandoned: (mark) => {
      held.delete(mark)
    },
  }
}

/** The same id in another run of the server is another pane. */
const key = ({ server, pane }: Pick<PaneRow, 'server' | 'pane'>): string => `${server} ${pane}`

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

/** Calls that come while one is under way become one more after it. */
export function oneAtATime(act: () => Promise<void>, signal: AbortSignal): () => void {
  let isBusy = false
  let isWanted = false
  const work = async (): Promise<void> => {
    isBusy = true
    try {
      while (isWanted && !signal.aborted) {
        isWanted = false
        await act()
      }
    } catch (error) {
      // The connection broke; after that all is looked at again.
      if (!signal.aborted && !(error instanceof AppError)) throw error
    } finally {
      isBusy = false
    }
  }
  return () => {
    isWanted = true
    if (!isBusy) void work()
  }
}

/** Acts every so often until the signal ends it. */
export async function every(
  ms: number,
  act: () => void,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  try {
    for (;;) {
      await clock.sleep(ms, signal)
      act()
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
