import { type SessionId, shortId } from '../../contract/ids.ts'
import { hasEnded, type SessionState } from '../../core/session/state.ts'
import type { PaneInfo } from '../../ports/terminal.ts'
import { type Program, release, sessionMark } from './launch.ts'
import { modeOf } from './lifecycle.ts'
import { isAt } from './read-screen.ts'
import type { Parts } from './session-parts.ts'

/** What is followed already, and how to take up what should be. */
export type Following = {
  readonly ids: () => ReadonlySet<SessionId>
  readonly follow: (state: Readonly<SessionState>) => unknown
}

/**
 * After a daemon that was killed: takes up sessions that said they were done and still run. What was left of those that
 * were being started or ended is ended by the answer, which nobody need wait for.
 */
export async function sweep(
  parts: Parts,
  { panes, following }: { panes: readonly PaneInfo[]; following: Following },
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const strays = new Map<SessionId, Program | undefined>()
  // What cannot be found out now is left as it is: the next start looks again, and nothing else waits for it.
  const undecided = new Set<SessionId>()
  for (const pane of panes) {
    const id = pane.owner as SessionId
    const state = await parts.engine.known(id).catch((error: unknown) => {
      parts.onBug(error, `what is known of ${id}`)
      undecided.add(id)
      return undefined
    })
    if (undecided.has(id)) continue
    const stays = state && isAt(pane, state.managed?.place) && mayStay(parts, state, pane)
    if (!stays) strays.set(id, programIn(pane))
    else if (!pane.isDead) following.follow(state)
  }
  const followed = new Set([...following.ids(), ...undecided])
  await parts.grants.keep(followed)
  const shorts = new Set(Array.from(followed, shortId))
  const folders = (await parts.folders.list()).filter((name) => !shorts.has(name))
  for (const id of await withProcesses(parts, signal))
    if (!followed.has(id) && !strays.has(id)) strays.set(id, undefined)
  return async () => {
    await Promise.all(
      Array.from(strays, ([sessionId, program]) => release(parts, { sessionId, program }, signal)),
    )
    for (const name of folders) await parts.folders.remove(name)
  }
}

const programIn = (pane: PaneInfo): Program => ({ pid: pane.pid, pane, isRunning: !pane.isDead })

/** A killed session has no terminal; one that ended otherwise keeps it unless the configuration says no. */
function mayStay(parts: Parts, state: Readonly<SessionState>, pane: PaneInfo): boolean {
  const { auto_kill_on_complete, close_tmux_session } = parts.config().child_agents.cleanup
  if (state.lifecycle === 'killed') return false
  if (!hasEnded(state) || modeOf(parts, state) === 'manual') return true
  return !close_tmux_session && (!auto_kill_on_complete || pane.isDead)
}

/** Sessions of this state folder that have processes. */
async function withProcesses(parts: Parts, signal: AbortSignal): Promise<SessionId[]> {
  const all = await parts.processes.carrying(['MUSTER_HOME', sessionMark], signal)
  return all
    .filter(({ values }) => values.MUSTER_HOME === parts.surroundings.home)
    .map(({ values }) => values[sessionMark] as SessionId)
}

/** Ends what is left of some sessions, terminals that were kept too; answers which of them had something. */
export async function clear(
  parts: Parts,
  isWanted: (id: SessionId) => boolean,
  signal: AbortSignal,
): Promise<readonly SessionId[]> {
  const panes = (await parts.terminal.panes(signal)).filter(({ owner }) => isWanted(owner as SessionId))
  const found = new Map<SessionId, Program | undefined>()
  for (const id of await withProcesses(parts, signal)) if (isWanted(id)) found.set(id, undefined)
  for (const pane of panes) found.set(pane.owner as SessionId, programIn(pane))
  await Promise.all(
    Array.from(found, ([sessionId, program]) => release(parts, { sessionId, program }, signal)),
  )
  return [...found.keys()]
}
