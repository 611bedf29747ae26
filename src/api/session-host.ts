import { AppError } from '../contract/errors.ts'
import type { Parts } from '../engine/sessions/session-parts.ts'
import { Sessions } from '../engine/sessions/sessions.ts'

/** Managed sessions once they are wanted: a daemon that runs none starts no tmux server. */
export type SessionHost = {
  /** Opens terminals and takes up every open session, once; a failure is told and tried again by the next caller. */
  open(): Promise<{ readonly parts: Parts; readonly sessions: Sessions }>
  current(): Sessions | undefined
  close(): Promise<void>
}

export function sessionHost(openParts: () => Promise<Parts>): SessionHost {
  let opening: Promise<{ parts: Parts; sessions: Sessions }> | undefined
  let opened: { parts: Parts; sessions: Sessions } | undefined
  let isClosed = false
  const start = async () => {
    const parts = await openParts()
    const sessions = new Sessions(parts)
    opened = { parts, sessions }
    await sessions.start()
    return opened
  }
  return {
    open() {
      if (isClosed) throw new AppError('unavailable', 'the daemon is stopping; try again')
      opening ??= start().catch((error: unknown) => {
        opening = undefined
        opened = undefined
        throw error
      })
      return opening
    },
    current: () => opened?.sessions,
    async close() {
      isClosed = true
      await opening?.catch(() => {})
      await opened?.sessions.stop()
      await opened?.parts.terminal.release()
    },
  }
}
