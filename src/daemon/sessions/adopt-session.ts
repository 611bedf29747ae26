import { AppError } from '../../contract/errors.ts'
import type { SessionId } from '../../contract/ids.ts'
import type { SessionRow } from '../../contract/index-rows.ts'
import { checkAdoption } from '../../core/session/session-tree.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Observer } from '../../engine/observe/observer.ts'
import { adopt } from '../../engine/sessions/adopt.ts'
import { takeOver } from '../../engine/sessions/take-over.ts'
import type { SessionHost } from './session-host.ts'

type Deps = { readonly engine: Engine; readonly host: SessionHost; readonly observer: Observer }

type Wanted = {
  readonly row: SessionRow
  readonly parent: SessionId | undefined
  readonly by: string
  readonly environment: Readonly<Record<string, string>> | undefined
}

/** Takes a session under a parent, or to the root: one of ours as it is, one from outside by going on with it. */
export async function adoptSession(
  { engine, host, observer }: Deps,
  { row, parent, by, environment }: Wanted,
  signal: AbortSignal,
): Promise<void> {
  const { parts, sessions } = await host.open()
  const id = row.sessionId
  const state = await engine.known(id)
  if (!state?.managed)
    throw new AppError('conflict', `${row.shortId} is a record only; there is nothing to adopt`)
  if (state.managed.origin === 'observed') {
    await observer.without(id, () => takeOver(parts, { state, parent, by, environment }, signal))
    const now = engine.session(id)
    if (now) sessions.follow(now)
    return
  }
  // Refused before anything is started.
  const open = new Map(Array.from(engine.sessions(), (one) => [one.sessionId, one]))
  checkAdoption(open, { child: id, parent }, parts.config().limits)
  if (!sessions.isRunning(id)) await sessions.resume(state, by, signal)
  const live = sessions.get(id)
  if (live) await adopt(parts, live.watch, { parent, by })
}
