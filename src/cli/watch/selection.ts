import type { SessionView } from '../../contract/session-views.ts'
import { isEnded } from '../render/session-lines.ts'
import type { Size } from '../tui/held-terminal.ts'
import { arrange, type Row } from './arrange.ts'
import type { WatchModel } from './model.ts'

/** The row under the cursor. */
export function selectedRow({ rows, selected }: WatchModel): Row | undefined {
  return rows.find(({ session }) => session.id === selected)
}

/** An end by what it is remembered as: a session that was reopened ends anew. */
const endKey = ({ id, completed_at }: SessionView): string => `${id} ${completed_at}`

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

/** How the rows of the screen are shared out. */
type Layout = {
  /** Lines of the list, or of what lies over it with its own head. */
  readonly list: number
  readonly body: number
  /** Lines about the selected session, under a rule; 0 when there is no room. */
  readonly detail: number
}

const header = 1
const footer = 2
const titles = 1
const rule = 1

export function layoutOf({ rows }: Size): Layout {
  const body = Math.max(1, rows - header - footer)
  const detail = rows >= 18 ? 3 : 0
  return { body, detail, list: Math.max(1, body - titles - (detail === 0 ? 0 : rule + detail)) }
}

/** How far a key moves among so many lines, of which a page is shown; nothing when it moves nothing. */
export function motionOf(key: string, { page, total }: { page: number; total: number }): number | undefined {
  switch (key) {
    case 'j':
    case '<down>':
    case '<c-n>':
      return 1
    case 'k':
    case '<up>':
    case '<c-p>':
      return -1
    case '<pagedown>':
    case '<c-f>':
      return Math.max(1, page - 1)
    case '<pageup>':
    case '<c-b>':
      return -Math.max(1, page - 1)
    case '<c-d>':
      return Math.max(1, page >> 1)
    case '<c-u>':
      return -Math.max(1, page >> 1)
    case 'g':
    case '<home>':
      return -total
    case 'G':
    case '<end>':
      return total
    default:
      return undefined
  }
}
