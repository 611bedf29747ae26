import { elapsed } from '../render/figures.ts'
import type { Paint } from '../render/paint.ts'
import { oneLine } from '../render/safe-text.ts'
import { cut, textWidth } from '../render/text-width.ts'
import type { ToolCall } from './heard.ts'

type Row = Pick<ToolCall, 'tool' | 'target' | 'result' | 'durationMs' | 'reason'> & {
  /** Whose call it is, when it is not that of the agent who is spoken with. */
  readonly by?: string | undefined
}

const marks = { completed: '●', failed: '✗', denied: '⊘' } as const

/** One call as one line: what was called on what, how long it took, and why it came to nothing. */
export function toolRow(
  row: Row,
  { width, paint }: { readonly width: number; readonly paint: Paint },
): string {
  const { result = 'completed' } = row
  const isBad = result !== 'completed'
  const lead = row.by === undefined ? `${marks[result]} ` : `  ${marks[result]} ${oneLine(row.by)} `
  const tool = oneLine(row.tool)
  const time = row.durationMs === undefined ? '' : `  ${elapsed(row.durationMs)}`
  const why = isBad ? `  ${result === 'denied' ? 'denied: ' : ''}${firstLine(row.reason ?? result)}` : ''
  const room = Math.max(0, width - textWidth(lead + tool + time))
  // What went wrong is worth more of the line than what it was done to.
  const target = cut(firstLine(row.target ?? ''), Math.max(0, (isBad ? Math.floor(room / 2) : room) - 1))
  const left = room - (target === '' ? 0 : textWidth(target) + 1)
  return [
    paint(isBad ? 'red' : 'green', lead),
    paint('bold', tool),
    target === '' ? '' : ` ${target}`,
    paint('dim', time),
    paint('red', cut(why, left)),
  ].join('')
}

const firstLine = (text: string): string => {
  const [first = '', ...more] = text.trim().split('\n')
  return more.length === 0 ? oneLine(first) : `${oneLine(first)} …`
}
