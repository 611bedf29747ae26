import type { Screen } from '../../contract/screen.ts'
import { pastedOption, stampFormat } from './paste-text.ts'

/** Commands whose answers `screenFrom` reads; one turn, so that text and cursor belong together. */
export function captureCommands(pane: string, history = 0): readonly string[] {
  const fields =
    'pane_width pane_height cursor_x cursor_y cursor_flag pane_in_mode session_attached session_created session_activity window_activity'
  const format = `${fields.replace(/\w+/g, '#{$&}')} ${stampFormat} #{${pastedOption}} #{pane_title}`
  const start = history > 0 ? ` -S -${Math.trunc(history)}` : ''
  return [`display-message -p -t '${pane}' '${format}'`, `capture-pane -p -t '${pane}'${start}`]
}

export function screenFrom([[state = ''] = [], text = []]: readonly (readonly string[])[]): Screen {
  const [width, height, x, y, isVisible, modes, attached, created, key, drawn, stamp, pastedId, ...title] =
    state.split(' ')
  const rows = Number(height)
  const lines = [...text]
  while (lines.length < rows) lines.push('')
  return {
    lines,
    width: Number(width),
    height: rows,
    cursor: { x: Number(x), y: Number(y) + lines.length - rows, isVisible: isVisible === '1' },
    isInMode: modes !== '0' && modes !== '',
    attached: Number(attached),
    // A session that was only just made counts as used, too.
    ...(Number(key) > Number(created) && { lastKeyMs: Number(key) * 1000 }),
    ...(drawn && { drawnMs: Number(drawn) * 1000 }),
    ...(stamp && { stamp }),
    ...(pastedId && { pastedId }),
    title: title.join(' '),
  }
}
