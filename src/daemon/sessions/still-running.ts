import type { SessionRow } from '../../contract/index-rows.ts'
import { hasEnded } from '../../core/session/state.ts'
import type { Directory } from './directory.ts'
import type { SessionHost } from './session-host.ts'

/** What a list asks for; what is left out fits everything. */
type Filter = {
  readonly lifecycle?: readonly string[]
  readonly origin?: string
  readonly workingDir?: string
  readonly parentId?: string
}

/** Sessions that have ended and whose program is still there, as far as the filter wants them. */
export async function stillRunning(
  directory: Directory,
  host: SessionHost,
  filter: Filter,
): Promise<SessionRow[]> {
  const sessions = host.current()
  const ended = [...(sessions?.all() ?? [])].filter(({ watch }) => {
    const state = watch.state()
    return state !== undefined && hasEnded(state) && sessions?.isRunning(watch.id)
  })
  const rows = await Promise.all(ended.map(({ watch }) => directory.find(watch.id)))
  return rows.filter(
    (row) =>
      (filter.lifecycle?.includes(row.lifecycle ?? '') ?? true) &&
      (filter.origin ?? row.origin) === row.origin &&
      (filter.workingDir ?? row.workingDir) === row.workingDir &&
      (filter.parentId ?? row.parentId) === row.parentId,
  )
}
