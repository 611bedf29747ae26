import { AppError, errorCodes } from '../../contract/errors.ts'
import type { SessionView, UnsavedView } from '../../contract/session-views.ts'
import type { DataCommand } from '../command-module.ts'
import { renderDoomed, renderKilled } from '../render/killed.ts'

// Ending one takes its grace period, and there may be a tree of them.
const longestMs = 120_000

export const kill: DataCommand<'kill'> = {
  run: async ({ sessions, force, reason }, io) => {
    const client = await (await io.daemon()).client()
    // All are looked up first: a mistyped one must not leave half of them dead.
    const found = await Promise.all(sessions.map((id) => client.listUnsaved({ id }, { signal: io.signal })))
    const doomed = new Map<string, UnsavedView>()
    for (const one of found.flatMap((answer) => answer.sessions)) doomed.set(one.session.id, one)
    for (const line of renderDoomed([...doomed.values()], io.now())) io.say(line)
    const hasUnsaved = [...doomed.values()].some(({ unsaved }) => unsaved.length > 0)
    if (hasUnsaved && !force && io.canAsk && !(await io.confirm('End it all the same?')))
      throw new AppError('conflict', 'nothing was ended')
    const killed = new Map<string, SessionView>()
    const left = new Set<number>()
    for (const [i, id] of sessions.entries()) {
      const whole = found[i]?.sessions[0]?.session.id ?? id
      // A descendant of one that was just ended is among the dead already.
      if (killed.has(whole)) continue
      const ended = await client.killSession(
        { id: whole, ...(force && { force }), ...(reason !== undefined && { reason }) },
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
