import type { TerminalEvent } from '../../ports/terminal.ts'
import type { PaneRow } from './pane-list.ts'

/** Turns lists of our panes into what happened between them, each thing once. */
export type PaneWatch = {
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
