import { insert, textOf } from '../tui/line-editor.ts'
import { pressInCard, pressInWords } from './card.ts'
import { pressInKill, pressInList, pressInReply, pressInSearch } from './list-keys.ts'
import {
  type Effect,
  type Input,
  type Mode,
  type Overlay,
  type Step,
  said,
  still,
  type WatchModel,
} from './model.ts'
import { overlayLines } from './paint.ts'
import { layoutOf, lookedAt, motionOf, rearranged, scrolled } from './selection.ts'

/** What an input makes of the watch, and what is to be done for it. */
export function reduce(model: WatchModel, input: Input): Step {
  switch (input.kind) {
    case 'key':
      return pressed(model, input.key)
    case 'paste':
      return still(pasted(model, input.text))
    case 'tick':
      return ticked(model, input.now)
    case 'resize':
      return still(scrolled({ ...model, size: input.size }))
    case 'loaded':
      return still(loaded(model, input))
    case 'offline':
      return still(model.offline === input.why ? model : { ...model, offline: input.why })
    case 'note':
      return still(said(model, input.tone, input.text))
    case 'untold':
      return still(untold(model, input))
    case 'explained':
    case 'printed':
      return still(answered(model, input))
  }
}

function pressed(model: WatchModel, key: string): Step {
  if (key === '<c-z>') return { model, effects: [{ kind: 'suspend' }] }
  if (key === '<c-l>') return { model, effects: [{ kind: 'redraw' }] }
  const { model: next, effects } = pressedIn(model, model.mode, key)
  // Only a key shows that somebody is there and looks.
  return { model: lookedAt(next), effects }
}

function pressedIn(model: WatchModel, mode: Mode, key: string): Step {
  switch (mode.kind) {
    case 'list':
      return pressInList(model, key)
    case 'search':
      return pressInSearch(model, mode, key)
    case 'reply':
      return pressInReply(model, mode, key)
    case 'kill':
      return pressInKill(model, mode, key)
    case 'card':
      return pressInCard(model, mode.card, key)
    case 'words':
      return pressInWords(model, mode, key)
    case 'overlay':
      return pressInOverlay(model, mode.overlay, key)
  }
}

/** What is pasted goes only where text is typed: as keys it would do anything. */
function pasted(model: WatchModel, text: string): WatchModel {
  const { mode } = model
  if (mode.kind !== 'reply' && mode.kind !== 'words' && mode.kind !== 'search') return model
  const line = insert(mode.line, text)
  if (mode.kind !== 'search') return { ...model, mode: { ...mode, line } }
  return { ...rearranged({ ...model, filter: textOf(line) }), mode: { ...mode, line } }
}

function ticked(model: WatchModel, now: number): Step {
  const note = model.note !== undefined && model.note.until <= now ? undefined : model.note
  const effects =
    model.mode.kind === 'overlay' && model.offline === undefined ? renewed(model.mode.overlay) : []
  return { model: { ...model, now, note }, effects }
}

function loaded(model: WatchModel, input: Extract<Input, { kind: 'loaded' }>): WatchModel {
  const { sessions, hidden, approvals } = input
  const isSame =
    model.isLoaded &&
    model.hidden === hidden &&
    sameViews(model.sessions, sessions) &&
    sameViews(model.approvals, approvals)
  if (isSame) return model.offline === undefined ? model : { ...model, offline: undefined }
  const next = { ...model, sessions, hidden, approvals, isLoaded: true, offline: undefined }
  const arranged = rearranged(withoutGoneCard(next))
  // Who looks at the top wants to see what comes there, also when the cursor's session sinks below it.
  return model.offset === 0 ? { ...arranged, offset: 0 } : arranged
}

/** A card that was decided elsewhere closes: a key for it must not fall on something else. */
function withoutGoneCard(model: WatchModel): WatchModel {
  const { mode, approvals } = model
  if (mode.kind !== 'card' && mode.kind !== 'words') return model
  const { approvalId } = mode.card
  if (approvals.some(({ approval_id, decision }) => approval_id === approvalId && decision === null))
    return model
  return said(
    { ...model, mode: { kind: 'list' } },
    'plain',
    'it has been decided or withdrawn in the meantime',
  )
}

function answered(model: WatchModel, input: Extract<Input, { kind: 'explained' | 'printed' }>): WatchModel {
  if (model.mode.kind !== 'overlay') return model
  const { overlay } = model.mode
  if (overlay.what === 'help' || overlay.id !== input.id) return model
  if (overlay.what === 'explain' && input.kind === 'explained')
    return { ...model, mode: { kind: 'overlay', overlay: { ...overlay, explained: input.explained } } }
  if (overlay.what === 'output' && input.kind === 'printed') {
    const { lines, isAlive } = input
    return { ...model, mode: { kind: 'overlay', overlay: { ...overlay, lines, isAlive } } }
  }
  return model
}

/** What was never shown closes again; what was shown stays, with the reason why it does not go on. */
function untold(model: WatchModel, { id, why }: Extract<Input, { kind: 'untold' }>): WatchModel {
  if (model.mode.kind !== 'overlay') return model
  const { overlay } = model.mode
  if (overlay.what === 'help' || overlay.id !== id) return model
  const isEmpty = (overlay.what === 'explain' ? overlay.explained : overlay.lines) === undefined
  return said(isEmpty ? { ...model, mode: { kind: 'list' } } : model, 'bad', why)
}

const closers: ReadonlySet<string> = new Set(['<esc>', 'q', '<enter>', '<c-c>', '?', 'e', 'o', ' '])

/** A key while something lies over the list. */
function pressInOverlay(model: WatchModel, overlay: Overlay, key: string): Step {
  if (closers.has(key)) return { model: { ...model, mode: { kind: 'list' } }, effects: [] }
  const page = layoutOf(model.size).body - 1
  const total = overlayLines(overlay, model).length
  const by = motionOf(key, { page, total })
  if (by === undefined) return { model, effects: [] }
  // The end of an output is what counts, so it is scrolled from there and stays there while it grows.
  const wanted = overlay.what === 'output' ? overlay.scroll - by : overlay.scroll + by
  const scroll = Math.min(Math.max(0, wanted), Math.max(0, total - page))
  return { model: { ...model, mode: { kind: 'overlay', overlay: { ...overlay, scroll } } }, effects: [] }
}

/** What an open overlay wants to know anew. */
function renewed(overlay: Overlay): readonly Effect[] {
  return overlay.what === 'help' ? [] : [{ kind: overlay.what, id: overlay.id, name: overlay.name }]
}

type Fields = Readonly<Record<string, unknown>>

/** Whether two answers of the daemon say the same, field by field. */
function sameViews(a: readonly Fields[], b: readonly Fields[]): boolean {
  return a === b || (a.length === b.length && a.every((one, i) => sameFields(one, b[i] ?? {})))
}

function sameFields(a: Fields, b: Fields): boolean {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => sameValue(a[name], b[name]))
}

function sameValue(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object') return false
  return JSON.stringify(a) === JSON.stringify(b)
}
