import type { SessionView } from '../../contract/session-views.ts'
import { isEnded } from '../render/session-lines.ts'
import { arrange, type Row } from './arrange.ts'
import { layoutOf } from './layout.ts'
import type { WatchModel } from './model.ts'

/** The row under the cursor. */
export function selectedRow({ rows, selected }: WatchModel): Row | undefined {
  return rows.find(({ session }) => session.id === selected)
}

/** An end by what it is remembered as: a session that was reopened ends anew. */
export const endKey = ({ id, completed_at }: SessionView): string => `${id} ${completed_at}`

/** Whether somebody should still look at how a session ended. */
export function isNews({ seen }: Pick<WatchModel, 'seen'>, session: SessionView): boolean {
  return isEnded(session) && !seen.has(endKey(session))
}

/** What is over, gone and looked at leaves as soon as the cursor does. */
export function isDismissed(model: Pick<WatchModel, 'seen' | 'selected'>, session: SessionView): boolean {
  return isEnded(session) && !session.is_alive && session.id !== model.selected && !isNews(model, session)
}

/** The list made anew, with the cursor on the session it was on, or where that one stood. */
export function rearranged(model: WatchModel): WatchModel {
  const { sessions, folded, filter, selected } = model
  const isHidden = (session: SessionView): boolean => isDismissed(model, session)
  const before = model.rows.findIndex(({ session }) => session.id === selected)
  const rows = arrange(sessions, { folded, filter, isHidden })
  const isThere = rows.some(({ session }) => session.id === selected)
  const next = rows[Math.min(Math.max(0, before), rows.length - 1)]?.session.id
  return scrolled({ ...model, rows, selected: isThere ? selected : next })
}

/** Puts the cursor on a line of the list. */
export function selectAt(model: WatchModel, index: number): WatchModel {
  const at = Math.min(Math.max(0, index), model.rows.length - 1)
  const selected = model.rows[at]?.session.id
  if (selected === model.selected) return scrolled(model)
  const leaving = selectedRow(model)?.session
  const moved = { ...model, selected }
  return leaving !== undefined && isEnded(leaving) ? rearranged(moved) : scrolled(moved)
}

export function selectedIndex({ rows, selected }: WatchModel): number {
  return rows.findIndex(({ session }) => session.id === selected)
}

/** Whether the cursor is on the screen: news may push its session out. */
export function isCursorShown(model: WatchModel): boolean {
  const at = selectedIndex(model) - model.offset
  return at >= 0 && at < layoutOf(model.size).list
}

/** Moves the window so that the cursor is in it, and no further. */
export function scrolled(model: WatchModel): WatchModel {
  const { list } = layoutOf(model.size)
  const at = Math.max(0, selectedIndex(model))
  const last = Math.max(0, model.rows.length - list)
  const offset = Math.min(Math.max(model.offset, at - list + 1), at, last)
  return offset === model.offset ? model : { ...model, offset: Math.max(0, offset) }
}

/** Remembers that the end of the selected session was looked at. */
export function lookedAt(model: WatchModel): WatchModel {
  const session = selectedRow(model)?.session
  if (session === undefined || !isNews(model, session)) return model
  return { ...model, seen: new Set([...model.seen, endKey(session)]) }
}
