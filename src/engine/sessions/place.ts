import type { TerminalPlace } from '../../core/session/managed.ts'
import type { PaneInfo, PaneRef } from '../../ports/terminal.ts'

/** The terminal of a session by its exact ids. */
export const paneOf = ({ serverId, terminalId, paneId }: TerminalPlace): PaneRef => ({
  server: serverId,
  session: terminalId,
  pane: paneId,
})

/** Whether a listed terminal is the one that a session was started in. */
export const isAt = (pane: Pick<PaneInfo, 'server' | 'pane'>, place: TerminalPlace | undefined): boolean =>
  pane.server === place?.serverId && pane.pane === place.paneId
