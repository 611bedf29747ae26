import { type Call, isOpen } from './calls.ts'
import type { Evidence } from './evidence.ts'
import { latest, type Mark, timeOf } from './mark.ts'
import type { Moment } from './moment.ts'

/**
 * The session's own tool calls that run. The end of a call may be lost; that the turn ended, or that the
 * model said something after it, shows that it is over.
 */
export function openCalls({ calls, marks }: Evidence, moment: Moment): readonly Call[] {
  const ended = latest<Mark>([
    marks['turn-end'],
    marks['turn-failed'],
    marks.interrupted,
    marks.idle,
    marks.ready,
    marks.switched,
  ])
  const wentOn = latest<Mark>([marks.text, marks.response, marks['tool-start']])
  return calls.filter(
    (call) =>
      call.agent === undefined &&
      isOpen(call) &&
      timeOf(call.start) > timeOf(ended) &&
      timeOf(wentOn) <= timeOf(call.start) + moment.patience.parallelMs,
  )
}
