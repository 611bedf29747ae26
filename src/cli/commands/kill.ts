import { errorCodes } from '../../contract/errors.ts'
import type { SessionView } from '../../contract/session-views.ts'
import type { DataCommand } from '../command-module.ts'
import { renderKilled } from '../render/killed.ts'
import { lastWords, sessionLines } from '../render/session-line.ts'

// Ending one takes its grace period, and there may be a tree of them.
const longestMs = 120_000

export const kill: DataCommand<'kill'> = {
  run: async ({ sessions, force, reason }, io) => {
    const client = await (await io.daemon()).client()
    // All are looked up first: a mistyped one must not leave half of them dead.
    const found = await Promise.all(sessions.map((id) => client.getSession({ id }, { signal: io.signal })))
    const rows = found.map((session) => ({ session, text: lastWords(session) }))
    for (const line of sessionLines(rows, { now: io.now(), color: false })) io.say(line)
    const killed = new Map<string, SessionView>()
    const left = new Set<number>()
    for (const { id } of found) {
      // A descendant of one that was just ended is among the dead already.
      if (killed.has(id)) continue
      const ended = await client.killSession(
        { id, ...(force && { force }), ...(reason !== undefined && { reason }) },
        { signal: io.signal, timeoutMs: longestMs },
      )
      for (const session of ended.killed) killed.set(session.id, session)
      for (const pid of ended.left) left.add(pid)
    }
    return { killed: [...killed.values()], left: [...left] }
  },
  render: renderKilled,
  exitCode: ({ left }) => (left.length === 0 ? 0 : errorCodes.failed.exit),
}
