import type { Evidence } from './evidence.ts'
import { isBack } from './is-back.ts'
import { latest, type Mark, timeOf } from './mark.ts'
import type { Moment } from './moment.ts'
import type { Turn } from './turn.ts'
import type { State } from './verdict.ts'

/** The state of a session whose program is no longer there. */
export function endedProcess(
  evidence: Evidence,
  turn: Turn,
  moment: Moment,
): { readonly state: State; readonly by: readonly Mark[] } | undefined {
  const { marks } = evidence
  // A program that a tool runs may say goodbye in this session's name: in a turn that alone is not believed.
  const isBelieved =
    turn.state !== 'open' || (marks.gone !== undefined && moment.aged(marks.gone.at, moment.patience.freshMs))
  const end = latest<Mark>([marks.exited, isBelieved ? marks.gone : undefined])
  if (!end || isBack(evidence, end, moment)) return undefined
  const isOfThisLife = (mark: Mark) => mark.at > timeOf(marks.ready)
  const [exited, gone] = [marks.exited, marks.gone].map((mark) =>
    mark && isOfThisLife(mark) ? mark : undefined,
  )
  const { code, signal } = marks.exited ?? {}
  const isCrash = exited !== undefined && (signal !== undefined || (code ?? 0) !== 0)
  // A terminal that vanished leaves no exit code; only a goodbye of the program tells it from a crash.
  const isVanished = exited !== undefined && code === undefined
  const isGoodbye = gone !== undefined && (marks.gone?.reason ?? 'other') !== 'other'
  const isError = isCrash || (!isGoodbye && (isVanished || turn.state === 'open'))
  const by = [exited, gone].filter((mark) => mark !== undefined)
  const health = isCrash ? 'crashed' : 'gone'
  return { state: { lifecycle: isError ? 'error' : 'idle', activity: 'idle', health }, by }
}
