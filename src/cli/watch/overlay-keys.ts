import { layoutOf } from './layout.ts'
import type { Effect, Overlay, Step, WatchModel } from './model.ts'
import { motionOf } from './motion.ts'
import { overlayLines } from './overlay-view.ts'

const closers: ReadonlySet<string> = new Set(['<esc>', 'q', '<enter>', '<c-c>', '?', 'e', 'o', ' '])

/** A key while something lies over the list. */
export function pressInOverlay(model: WatchModel, overlay: Overlay, key: string): Step {
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
export function renewed(overlay: Overlay): readonly Effect[] {
  return overlay.what === 'help' ? [] : [{ kind: overlay.what, id: overlay.id, name: overlay.name }]
}
