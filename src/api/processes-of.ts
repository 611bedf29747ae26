import { type SessionId, shortId } from '../contract/ids.ts'
import type { ProcessView } from '../contract/session-views.ts'
import { hasEnded } from '../core/session/state.ts'
import type { Engine } from '../engine/engine.ts'
import { sessionMark } from '../engine/sessions/launch.ts'
import type { Processes } from '../ports/processes.ts'
import type { SessionHost } from './session-host.ts'

/** What listing needs; no terminal is among it. */
type Deps = {
  readonly engine: Engine
  readonly host: SessionHost
  readonly processes: Processes
  readonly home: string
}

/** Every process of the sessions of this state folder that are seen; those whose session runs no program any more were left behind. */
export async function processesOf(
  { engine, host, processes, home }: Deps,
  isSeen: (id: SessionId) => boolean | Promise<boolean>,
  signal: AbortSignal,
): Promise<ProcessView[]> {
  const [all, carrying] = await Promise.all([
    processes.list(signal),
    processes.carrying(['MUSTER_HOME', sessionMark], signal),
  ])
  const byPid = new Map(all.map((one) => [one.pid, one]))
  const found: ProcessView[] = []
  for (const { pid, values } of carrying) {
    const one = byPid.get(pid)
    if (!one || values.MUSTER_HOME !== home) continue
    const id = values[sessionMark] as SessionId
    if (!(await isSeen(id))) continue
    const state = await engine.known(id)
    const managed = state?.managed
    // One that is just being started is not followed yet.
    const isStarting = state !== undefined && !hasEnded(state)
    found.push({
      session_id: shortId(id),
      name: managed?.friendlyName ?? managed?.name ?? shortId(id),
      pid,
      command: one.command,
      rss_bytes: one.rssBytes,
      cpu_ms: Math.round(one.cpuMs),
      started_at: new Date(one.startedAtMs).toISOString(),
      is_orphan: !isStarting && host.current()?.isRunning(id) !== true,
    })
  }
  return found.sort((a, b) => a.session_id.localeCompare(b.session_id) || a.pid - b.pid)
}
