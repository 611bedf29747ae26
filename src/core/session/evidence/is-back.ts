import type { Evidence } from './evidence.ts'
import { type Mark, timeOf } from './mark.ts'
import type { Moment } from './moment.ts'

/** Whether the program was seen after it ended: it was started again, or it was another one that ended. */
export function isBack({ marks }: Evidence, end: Mark | undefined, moment: Moment): boolean {
  if (!end) return false
  const screens = [marks['screen-working'], marks['screen-calm'], marks['screen-dialog']]
  // The last screen may be read while the program ends; what it was told to do may not.
  return (
    [marks.prompt, marks.ready, marks['tool-start']].some((mark) => timeOf(mark) > end.at) ||
    screens.some((screen) => timeOf(screen) > end.at + moment.patience.settleMs)
  )
}
