import { layoutOf } from './layout.ts'
import type { WatchModel } from './model.ts'

const second = 1000
const minute = 60 * second
const restMs = 10 * second

/** When the clock changes something on the screen: every second while ages are shown in seconds. */
export function tickMs(model: WatchModel): number {
  const { mode, note, rows, offset, size, now, approvals } = model
  if (note !== undefined || mode.kind === 'overlay' || mode.kind === 'card') return second
  const shown = rows.slice(offset, offset + layoutOf(size).list)
  const isFresh = (at: string | null): boolean => at !== null && now - Date.parse(at) < minute
  const isAnyFresh = shown.some(
    ({ session }) => isFresh(session.completed_at ?? session.last_activity_at) || isFresh(session.created_at),
  )
  return isAnyFresh || approvals.some(({ requested_at }) => isFresh(requested_at)) ? second : restMs
}
