import type { Dialog } from '../../../contract/signal.ts'
import { type Ask, isAnswered } from './asks.ts'
import type { Call } from './calls.ts'
import type { Evidence } from './evidence.ts'
import { latest, type Mark, timeOf } from './mark.ts'
import type { MarkOf } from './marks.ts'
import type { Moment } from './moment.ts'

/** What a person is asked at this moment; `dialog` is one of the program itself, like a login. */
export type Asked = {
  readonly for: 'permission' | 'question' | 'plan' | 'dialog'
  readonly by: Mark
  /** The last sign that it still stands. */
  readonly seen: Mark
}

/** The latest question that still stands. */
export function askedOf(evidence: Evidence, moment: Moment): Asked | undefined {
  const dialog = standingDialog(evidence, moment)
  const ask = latest(evidence.asks.filter((one) => stands(one, evidence, moment)))
  if (ask) return { for: ask.ask, by: ask, seen: dialog && dialog.at > ask.at ? dialog : ask }
  return dialog && { for: dialogs[dialog.kind], by: dialog, seen: dialog }
}

const dialogs: Readonly<Record<Dialog['kind'], Asked['for']>> = {
  permission: 'permission',
  question: 'question',
  plan: 'plan',
  trust: 'dialog',
  login: 'dialog',
  bypass: 'dialog',
  notice: 'dialog',
  menu: 'dialog',
}

function stands(ask: Ask, evidence: Evidence, moment: Moment): boolean {
  const { marks, calls, agents, answers } = evidence
  if (isAnswered(ask, answers)) return false
  const { lagMs, parallelMs } = moment.patience
  const isLater = (mark: Mark | undefined, ms = 0) => timeOf(mark) > ask.at + ms
  const over = [marks.prompt, marks.interrupted, marks.ready, marks.switched, marks.exited]
  const ofTurn = [marks['turn-end'], marks['turn-failed'], marks.idle]
  // A subagent may ask after the session's own turn has ended, and goes on asking when it does.
  if ([...over, ...(ask.agent === undefined ? ofTurn : [])].some((mark) => isLater(mark))) return false
  if (askedAbout(calls, ask, lagMs).some((call) => hasRun(call, ask, lagMs))) return false
  const screens = [marks['screen-working'], marks['screen-calm']]
  const dialogAt = timeOf(marks['screen-dialog'])
  // Where a question may stand without a dialog, only the going of one that was there tells anything.
  const isTelling = !(ask.isUnseen || ask.agent !== undefined) || dialogAt > ask.at
  if (isTelling && screens.some((screen) => isLater(screen, lagMs) && timeOf(screen) > dialogAt)) return false
  const wentOn =
    ask.agent === undefined
      ? [marks.text, marks.response, marks['tool-start']]
      : agents.filter((agent) => agent.agentId === ask.agent).flatMap((agent) => [agent.seen, agent.end])
  return !wentOn.some((mark) => isLater(mark, parallelMs))
}

/** The calls that a question may be about: by its id, else by tool and input, else the last one before it. */
function askedAbout(calls: readonly Call[], ask: Ask, lagMs: number): readonly Call[] {
  if (ask.callId !== undefined) return calls.filter((call) => call.callId === ask.callId)
  const named = calls.filter(
    ({ agent, tool }) =>
      agent === ask.agent && (ask.tool === undefined || tool === undefined || tool === ask.tool),
  )
  const exact = named.filter(({ print }) => print !== undefined && print === ask.print)
  if (exact.length > 0) return exact
  // Not every CLI tells the input of a call and of the question about it in the same form.
  const before = named.filter(({ start }) => start !== undefined && start.at <= ask.at + lagMs)
  const last = latest(before.map(({ start }) => start))
  return last ? before.filter(({ start }) => start === last) : named
}

// A CLI may tell the start of a call just before or just after it asks about it.
const hasRun = (call: Call, ask: Ask, lagMs: number): boolean =>
  timeOf(call.end) > ask.at || timeOf(call.start) > ask.at + lagMs

function standingDialog(
  { marks, answers }: Evidence,
  { patience }: Moment,
): MarkOf<'screen-dialog'> | undefined {
  const dialog = marks['screen-dialog']
  // What was answered from outside stands on the screen a little longer.
  const isAnswered = answers.some(
    ({ ask, at }) => dialog && ask === dialogs[dialog.kind] && Math.abs(dialog.at - at) <= patience.settleMs,
  )
  if (isAnswered) return undefined
  const later: (Mark | undefined)[] = [
    marks['screen-working'],
    marks['screen-calm'],
    marks['screen-opaque'],
    marks.prompt,
    marks['tool-end'],
    marks['turn-end'],
    marks['turn-failed'],
    marks.interrupted,
    marks.exited,
  ]
  return dialog && !later.some((mark) => timeOf(mark) > dialog.at) ? dialog : undefined
}
