import { renderExplanation } from '../render/explanation.ts'
import { type Paint, painter } from '../render/paint.ts'
import { plainLines } from '../render/safe-text.ts'
import { clip, fold } from './fit.ts'
import { helpLines } from './help-view.ts'
import type { Overlay, WatchModel } from './model.ts'

/** The lines of what lies over the list, all of them. */
export function overlayLines(overlay: Overlay, { size, color, now }: WatchModel): string[] {
  const width = size.columns - 2
  switch (overlay.what) {
    case 'help':
      return helpLines(painter(color))
    case 'explain':
      return overlay.explained === undefined
        ? ['…']
        : renderExplanation(overlay.explained, { width, now, color }).split('\n')
    case 'output':
      return overlay.lines === undefined ? ['…'] : printedLines(overlay.lines, width)
  }
}

function printedLines(lines: readonly string[], width: number): string[] {
  const shown = lines.flatMap((line) => fold(plainLines(line), width))
  return shown.length === 0 ? ['It has printed nothing.'] : shown
}

/** The title of what lies over the list. */
export function overlayTitle(overlay: Overlay, paint: Paint, width: number): string {
  if (overlay.what === 'help') return paint('bold', 'Keys')
  const name = clip(overlay.name, width - 40)
  if (overlay.what === 'explain') return `${paint('bold', name)}: why it stands as it does`
  const what = overlay.isOwn
    ? 'what was said and done'
    : overlay.isAlive
      ? 'its terminal, live'
      : 'its terminal is gone; the last that was kept'
  return `${paint('bold', name)}: ${what}`
}
