import type { Place } from '../../core/session/managed.ts'
import type { PaneRef } from '../../ports/terminal.ts'

/** The terminal of a session by its exact ids. */
export const paneOf = ({ serverId, terminalId, paneId }: Place): PaneRef => ({
  server: serverId,
  session: terminalId,
  pane: paneId,
})
