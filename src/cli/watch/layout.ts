import type { Size } from '../held-terminal.ts'

/** How the rows of the screen are shared out. */
export type Layout = {
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
