import type { Screen } from '../../contract/screen.ts'

/** Commands whose answers `screenFrom` reads; one turn, so that text and cursor belong together. */
export function captureCommands(pane: string, history = 0): readonly string[] {
  const fields = 'pane_width pane_height cursor_x cursor_y cursor_flag pane_in_mode pane_title'
  const format = fields.replace(/\w+/g, '#{$&}')
  const start = history > 0 ? ` -S -${Math.trunc(history)}` : ''
  return [`display-message -p -t '${pane}' '${format}'`, `capture-pane -p -t '${pane}'${start}`]
}

export function screenFrom([[state = ''] = [], text = []]: readonly (readonly string[])[]): Screen {
  const [width, height, x, y, isVisible, modes, ...title] = state.split(' ')
  const rows = Number(height)
  const lines = [...text]
  while (lines.length < rows) lines.push('')
  return {
    lines,
    width: Number(width),
    height: rows,
    cursor: { x: Number(x), y: Number(y) + lines.length - rows, isVisible: isVisible === '1' },
    isInMode: modes !== '0' && modes !== '',
    title: title.join(' '),
  }
}
