import type { Dialog } from '../../../contract/signal.ts'
import { type Ask, type Call, isAnswered } from './calls-and-questions.ts'
import { type Evidence, latest, type Sighting, type SightingOf, timeOf } from './evidence.ts'
import type { Timing } from './timeouts.ts'

/** What a person is being asked; `dialog` is one of the program itself, like a login. */
export type PendingQuestion = {
  readonly for: 'permission' | 'question' | 'plan' | 'dialog'
  readonly by: Sighting
  /** The last sign that it is still open. */
  readonly seen: Sighting
}

/** The latest question that is still open. */
export function pendingQuestion(evidence: Evidence, timing: Timing): PendingQuestion | undefined {
  const dialog = pendingDialog(evidence, timing)
  const open = evidence.asks.filter((one) => isPending(one, evidence, timing))
  // A CLI may say once more, seconds later, that it asks, and call everything a permission then.
  const clear = open.filter(({ tool, callId }) => tool !== undefined || callId !== undefined)
  const ask = latest(clear.length > 0 ? clear : open)
  // After a restart that word is all that is told anew, and the screen shows what it is.
  const shown = clear.length === 0 && dialog ? dialogs[dialog.kind] : undefined
  if (ask) return { for: shown ?? ask.ask, by: ask, seen: latest<Sighting>([dialog, ...open]) ?? ask }
  return dialog && { for: dialogs[dialog.kind], by: dialog, seen: dialog }
}

const dialogs: Readonly<Record<Dialog['kind'], PendingQuestion['for']>> = {
  permission: 'permission',
  question: 'question',
  plan: 'plan',
  trust: 'dialog',
  login: 'dialog',
  bypass: 'dialog',
  notice: 'dialog',
  menu: 'dialog',
}

function isPending(ask: Ask, evidence: Evidence, timing: Timing): boolean {
  const { last, calls, agents, answers } = evidence
  if (isAnswered(ask, answers)) return false
  const { lagMs, parallelMs } = timing.timeouts
  const isLater = (sighting: Sighting | undefined, ms = 0) => timeOf(sighting) > ask.at + ms
  const over = [last.prompt, last.interrupted, last.ready, last.switched, last.exited]
  const ofTurn = [last['turn-end'], last['turn-failed'], last.idle]
  // A subagent may ask after the session's own turn has ended, and keeps asking when it does.
  if ([...over, ...(ask.agent === undefined ? ofTurn : [])].some((sighting) => isLater(sighting)))
    return false
  if (askedAbout(calls, ask, lagMs).some((call) => hasRun(call, ask, lagMs))) return false
  const screens = [last['screen-working'], last['screen-calm']]
  const dialogAt = timeOf(last['screen-dialog'])
  // Where a question may be open without a dialog, only the disappearance of one that was there tells anything.
  const isTelling = !(ask.isUnseen || ask.agent !== undefined) || dialogAt > ask.at
  if (isTelling && screens.some((screen) => isLater(screen, lagMs) && timeOf(screen) > dialogAt)) return false
  const continued =
    ask.agent === undefined
      ? [last.text, last.response, last['tool-start']]
      : agents.filter((agent) => agent.agentId === ask.agent).flatMap((agent) => [agent.seen, agent.end])
  return !continued.some((sighting) => isLater(sighting, parallelMs))
}

/** The calls that a question may be about: by its id, else by tool and input, else the last one before it. */
function askedAbout(calls: readonly Call[], ask: Ask, lagMs: number): readonly Call[] {
  if (ask.callId !== undefined) return calls.filter((call) => call.callId === ask.callId)
  const named = calls.filter(
    ({ agent, tool }) =>
      agent === ask.agent && (ask.tool === undefined || tool === undefined || tool === ask.tool),
  )
  const exact = named.filter(({ inputHash }) => inputHash !== undefined && inputHash === ask.inputHash)
  if (exact.length > 0) return exact
  // Not every CLI tells the input of a call and of the question about it in the same form.
  const before = named.filter(({ start }) => start !== undefined && start.at <= ask.at + lagMs)
  const lastStart = latest(before.map(({ start }) => start))
  return lastStart ? before.filter(({ start }) => start === lastStart) : named
}

// A CLI may tell the start of a call just before or just after it asks about it.
const hasRun = (call: Call, ask: Ask, lagMs: number): boolean =>
  timeOf(call.end) > ask.at || timeOf(call.start) > ask.at + lagMs

function pendingDialog(
  { last, answers }: Evidence,
  { timeouts }: Timing,
): SightingOf<'screen-dialog'> | undefined {
  const dialog = last['screen-dialog']
  // What was answered from outside stays on the screen a little longer.
  const isAnswered = answers.some(
    ({ ask, at }) => dialog && ask === dialogs[dialog.kind] && Math.abs(dialog.at - at) <= timeouts.settleMs,
  )
  if (isAnswered) return undefined
  const later: (Sighting | undefined)[] = [
    last['screen-working'],
    last['screen-calm'],
    last['screen-opaque'],
    last.prompt,
    last['tool-end'],
    last['turn-end'],
    last['turn-failed'],
    last.interrupted,
    last.exited,
  ]
  return dialog && !later.some((sighting) => timeOf(sighting) > dialog.at) ? dialog : undefined
}
