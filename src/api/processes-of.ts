import { type SessionId, shortId } from '../contract/ids.ts'
import type { ProcessView } from '../contract/session-views.ts'
import { hasEnded } from '../core/session/state.ts'
import type { Engine } from '../engine/engine.ts'
import { sessionMark } from '../engine/sessions/launch.ts'
import type { Processes, ProcessInfo } from '../ports/processes.ts'
import type { SessionHost } from './session-host.ts'
import { suspectsOf } from './suspects.ts'

/** What listing needs; no terminal is among it. */
type Deps = {
  readonly engine: Engine
  readonly host: SessionHost
  readonly processes: Processes
  readonly home: string
  readonly endedMs: (id: SessionId) => Promise<number | null>
}

/**
 * Every process of the sessions of this state folder that are seen; those whose session runs no program any more were
 * left behind, and of suspects nobody knows.
 */
export async function processesOf(
  deps: Deps,
  isSeen: (id: SessionId) => boolean | Promise<boolean>,
  signal: AbortSignal,
): Promise<ProcessView[]> {
  const { processes, host, home } = deps
  const [all, carrying, suspects] = await Promise.all([
    processes.list(signal),
    processes.carrying(['MUSTER_HOME', sessionMark], signal),
    suspectsOf(deps, isSeen, signal),
  ])
  const byPid = new Map(all.map((one) => [one.pid, one]))
  const owners = new Map<number, SessionId>()
  for (const { watch } of host.current()?.all() ?? [])
    for (const pid of host.current()?.kinOf(watch.id).keys() ?? []) owners.set(pid, watch.id)
  for (const { pid, values } of carrying)
    if (values.MUSTER_HOME === home) owners.set(pid, values[sessionMark] as SessionId)
  const found: ProcessView[] = []
  for (const [pid, id] of owners) {
    const one = byPid.get(pid)
    if (one && (await isSeen(id))) found.push(await viewOf(deps, { id, one, isSuspect: false }))
  }
  for (const { sessionId: id, stray: one } of suspects)
    if (!owners.has(one.pid)) found.push(await viewOf(deps, { id, one, isSuspect: true }))
  return found.sort((a, b) => a.session_id.localeCompare(b.session_id) || a.pid - b.pid)
}

async function viewOf(
  { engine, host }: Deps,
  { id, one, isSuspect }: { readonly id: SessionId; readonly one: ProcessInfo; readonly isSuspect: boolean },
): Promise<ProcessView> {
  const state = await engine.known(id)
  const managed = state?.managed
  // One that is just being started is not followed yet.
  const isStarting = state !== undefined && !hasEnded(state)
  return {
    session_id: shortId(id),
    name: managed?.friendlyName ?? managed?.name ?? shortId(id),
    pid: one.pid,
    command: one.command,
    rss_bytes: one.rssBytes,
    cpu_ms: Math.round(one.cpuMs),
    started_at: new Date(one.startedAtMs).toISOString(),
    is_orphan: !isStarting && host.current()?.isRunning(id) !== true,
    is_suspect: isSuspect,
  }
}
