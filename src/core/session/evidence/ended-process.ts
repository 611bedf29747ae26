import type { Evidence } from './evidence.ts'
import { latest, type Mark, timeOf } from './mark.ts'
import type { Moment } from './moment.ts'
import type { Turn } from './turn.ts'
import type { State } from './verdict.ts'

/** The state of a session whose program is no longer there. */
export function endedProcess(
  { marks }: Evidence,
  turn: Turn,
  moment: Moment,
): { readonly state: State; readonly by: readonly Mark[] } | undefined {
  // A program that a tool runs may say goodbye in this session's name: in a turn that alone is not believed.
  const isBelieved =
    turn.state !== 'open' || (marks.gone !== undefined && moment.aged(marks.gone.at, moment.patience.freshMs))
  const end = latest<Mark>([marks.exited, isBelieved ? marks.gone : undefined])
  const { settleMs } = moment.patience
  const screens = [marks['screen-working'], marks['screen-calm'], marks['screen-dialog']]
  // The last screen may be read while the program ends; what it was told to do may not.
  const isBack =
    [marks.prompt, marks.ready, marks['tool-start']].some((mark) => timeOf(mark) > timeOf(end)) ||
    screens.some((screen) => timeOf(screen) > timeOf(end) + settleMs)
  if (!end || isBack) return undefined
  const exited = timeOf(marks.exited) > timeOf(marks.ready) ? marks.exited : undefined
  const isCrash = exited !== undefined && (exited.signal !== undefined || (exited.code ?? 0) !== 0)
  // A terminal that vanished leaves no exit code; only a goodbye of the program tells it from a crash.
  const isVanished =
    exited !== undefined && exited.code === undefined && (marks.gone?.reason ?? 'other') === 'other'
  const isError = isCrash || isVanished || turn.state === 'open'
  const by = [exited, marks.gone].filter((mark) => mark !== undefined)
  const health = isCrash ? 'crashed' : 'gone'
  return { state: { lifecycle: isError ? 'error' : 'idle', activity: 'idle', health }, by }
}
